"""Image files, and pages of PDFs, as pictures that a model reads. Runs in the child process."""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from io import BytesIO

import pypdfium2 as pdfium
from PIL import Image, ImageOps

from adapters.extraction.confinement import threads_allowed
from adapters.extraction.pdf_pages import PdfFile
from adapters.extraction.wire import PictureFile
from domain.errors import NotFound, Unreadable

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "HEIF")
_MOST_PIXELS = 80_000_000
"""Of an image file: more is not decoded."""
_MOST_PAGE_PIXELS = 8_000_000
_POINTS_AN_INCH = 72
_PNG_BYTES = 1_500_000
"""A picture that takes more as PNG is a photograph or a noisy scan, and is sent as JPEG."""
_JPEG_QUALITY = 90
_WHITE = (255, 255, 255)
_BROKEN = (
    "This image is damaged or not whole. Open it in another program, save it anew, and upload that."
)


def upright(content: bytes, most_pixels: int) -> PictureFile:
    """The first frame of an image file as its taker saw it, on white, of at most so many pixels.

    Raises:
        Unreadable: damaged, or with more pixels than are decoded.
    """
    # What decodes HEIC starts a thread, whatever it is told.
    with threads_allowed() if content[4:8] == b"ftyp" else nullcontext():
        return _upright(content, most_pixels)


def _upright(content: bytes, most_pixels: int) -> PictureFile:
    image = _opened(content)
    if image.width * image.height > _MOST_PIXELS:
        raise Unreadable(
            f"This image has {image.width:,} x {image.height:,} pixels; {_MOST_PIXELS:,} are the"
            " limit. Scale it down and upload that."
        )
    shrunk = min(1.0, (most_pixels / (image.width * image.height)) ** 0.5)
    size = max(1, int(image.width * shrunk)), max(1, int(image.height * shrunk))
    image = _decoded(lambda: _loaded(image, size))
    with suppress(Exception):  # EXIF that is broken turns nothing
        image = ImageOps.exif_transpose(image)
    return _sent(_on_white(image))


def pages(file: PdfFile, numbers: list[int], dpi: int) -> list[PictureFile | None]:
    """Pages (from 1) of a PDF; None for one that cannot be drawn."""
    return [_page(file, number, dpi) for number in numbers]


def _page(file: PdfFile, number: int, dpi: int) -> PictureFile | None:
    try:
        loaded = file.load(number)
    except (NotFound, Unreadable):
        return None
    try:
        width, height = loaded.page.get_size()
        if not width * height > 0:
            return None
        scale = dpi / _POINTS_AN_INCH
        scale *= min(1.0, (_MOST_PAGE_PIXELS / (width * height * scale**2)) ** 0.5)
        bitmap = loaded.page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
        return _sent(bitmap.to_pil())
    except pdfium.PdfiumError:
        return None
    finally:
        file.close(loaded)


def _opened(content: bytes) -> Image.Image:
    """The file with its header read and nothing decoded."""
    from pi_heif import register_heif_opener  # noqa: PLC0415 - only where an image is read

    register_heif_opener()
    Image.MAX_IMAGE_PIXELS = None  # the limit here is told in words of its own
    return _decoded(lambda: Image.open(BytesIO(content), formats=_FORMATS))


def _loaded(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    image.draft(None, size)  # JPEG alone can decode to a smaller size
    image.load()
    if image.mode.startswith("I"):  # sixteen bits a pixel
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif image.mode == "P":
        image = image.convert("RGBA")
    image.thumbnail(size)
    return image


def _decoded(attempt: Callable[[], Image.Image]) -> Image.Image:
    """What `attempt` returns; decoders raise anything over broken files."""
    try:
        return attempt()
    except MemoryError:
        raise
    except Exception as error:
        raise Unreadable(_BROKEN) from error


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode in {"L", "RGB"} and "transparency" not in image.info:
        return image
    if image.has_transparency_data:
        transparent = image.convert("RGBA")
        sheet = Image.new("RGB", image.size, _WHITE)
        sheet.paste(transparent, mask=transparent.getchannel("A"))
        return sheet
    return image.convert("RGB")


def _sent(image: Image.Image) -> PictureFile:
    out, media_type = BytesIO(), "image/png"
    image.save(out, "PNG", compress_level=3)
    if out.tell() > _PNG_BYTES:
        out, media_type = BytesIO(), "image/jpeg"
        image.save(out, "JPEG", quality=_JPEG_QUALITY)
    return PictureFile(out.getvalue(), media_type, image.width, image.height)
