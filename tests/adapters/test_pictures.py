"""Image files and pages as pictures: upright, on white, bounded, and in the child process."""

from collections.abc import AsyncGenerator, AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from small_pdf import line, pdf

from adapters.extraction import wire
from adapters.extraction.pdf_process import Crashed, PdfProcesses
from adapters.extraction.reader import FileReader
from domain.errors import Unreadable
from domain.ports import Picture
from tests.provider.pictures import scan

MOST = 1_000_000
RED, GREEN, WHITE = (255, 0, 0), (0, 128, 0), (255, 255, 255)


@pytest.fixture
async def reader() -> AsyncIterator[FileReader]:
    file_reader = FileReader(PdfProcesses())
    yield file_reader
    await file_reader.aclose()


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:  # noqa: ANN401 - Pillow's own
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def shown(picture: Picture) -> Image.Image:
    image = Image.open(BytesIO(picture.content))
    assert image.size == (picture.width, picture.height)
    return image.convert("RGB")


def halves(mode: str = "RGB") -> Image.Image:
    """Red above, green below, 40 by 60."""
    image = Image.new("RGB", (40, 60), RED)
    image.paste(GREEN, (0, 30, 40, 60))
    return image.convert(mode)


def is_red(pixel: object) -> bool:
    assert isinstance(pixel, tuple)
    return pixel[0] > 150 > pixel[1] and pixel[2] < 150


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        *(("RGB", "PNG"), ("P", "PNG"), ("RGB", "JPEG"), ("CMYK", "JPEG")),
        *(("RGB", "WEBP"), ("P", "GIF"), ("RGBA", "PNG"), ("RGBA", "WEBP")),
    ],
)
async def test_every_form_comes_out_in_colour(reader: FileReader, mode: str, kind: str) -> None:
    image = shown(await reader.picture(saved(halves(mode), kind), most_pixels=MOST))
    assert image.size == (40, 60)
    assert is_red(image.getpixel((20, 5)))
    assert not is_red(image.getpixel((20, 55)))


@pytest.mark.parametrize(("orientation", "size"), [(3, (40, 60)), (6, (60, 40)), (8, (60, 40))])
async def test_it_is_turned_as_its_camera_was_held(
    reader: FileReader, orientation: int, size: tuple[int, int]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = await reader.picture(saved(halves(), "JPEG", exif=exif), most_pixels=MOST)
    image = shown(picture)
    assert image.size == size
    corner = {3: (20, 55), 6: (55, 20), 8: (5, 20)}[orientation]
    assert is_red(image.getpixel(corner))


async def test_what_is_transparent_stands_on_white(reader: FileReader) -> None:
    picture = await reader.picture(
        saved(Image.new("RGBA", (10, 10), (0, 0, 0, 0)), "PNG"), most_pixels=MOST
    )
    assert shown(picture).getpixel((5, 5)) == WHITE


async def test_of_an_animation_the_first_frame_is_taken(reader: FileReader) -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in (RED, GREEN)]
    moving = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert is_red(shown(await reader.picture(moving, most_pixels=MOST)).getpixel((5, 5)))


async def test_sixteen_bits_a_pixel_keep_their_greys(reader: FileReader) -> None:
    grey = Image.new("I;16", (10, 10), 0x8000)
    pixel = shown(await reader.picture(saved(grey, "PNG"), most_pixels=MOST)).getpixel((5, 5))
    assert isinstance(pixel, tuple)
    assert 120 <= pixel[0] <= 136


async def test_a_large_one_is_scaled_down(reader: FileReader) -> None:
    picture = await reader.picture(saved(Image.new("L", (3000, 2000)), "PNG"), most_pixels=MOST)
    assert picture.width * picture.height <= MOST
    assert 1.49 < picture.width / picture.height < 1.51


@pytest.mark.parametrize(
    "content",
    [
        saved(halves(), "PNG")[:60],
        b"\x89PNG\r\n\x1a\n",
        b"RIFF\0\0\0\0WEBPVP8 ",
        b"\0\0\0\x18ftypheic",
    ],
)
async def test_a_broken_one_is_told(reader: FileReader, content: bytes) -> None:
    with pytest.raises(Unreadable, match="damaged"):
        await reader.picture(content, most_pixels=MOST)


async def test_an_empty_one_is_told(reader: FileReader) -> None:
    with pytest.raises(Unreadable, match="empty"):
        await reader.picture(b"", most_pixels=MOST)


async def test_the_open_images_end_as_their_manifest_says(
    reader: FileReader, shared_data: Path
) -> None:
    refused = ("40000", "200MP", "empty", "made-zero", "crash", "broken", "svg")
    for path in sorted((shared_data / "media" / "images").iterdir()):
        if not any(name in path.name for name in refused):
            picture = await reader.picture(path.read_bytes(), most_pixels=MOST)
            assert 0 < picture.width * picture.height <= MOST, path.name
            continue
        with pytest.raises(Unreadable) as told:
            await reader.picture(path.read_bytes(), most_pixels=MOST)
        bomb = "40000" in path.name or "200MP" in path.name
        assert ("pixels" in told.value.message) == bomb, path.name


async def test_pages_are_drawn_finely_and_in_the_order_asked_for(reader: FileReader) -> None:
    content = scan([1, 2])
    two, nothing, one = await reader.pdf_pictures(content, [2, 9, 1], dpi=150)
    assert nothing is None
    assert one is not None
    assert two is not None
    assert (one.width, one.height) == (451, 451)
    assert one.content != two.content


class Brittle(PdfProcesses):
    """Processes that page 2 ends."""

    async def ask(self, request: wire.Request) -> AsyncGenerator[wire.Reply, None]:
        assert isinstance(request, wire.DrawPages)
        if 2 in request.pages:
            raise Crashed(-6)
        drawn = wire.PictureFile(b"png", "image/png", 1, 1)
        yield wire.Pictures([drawn for _ in request.pages])


async def test_a_page_that_ends_its_process_costs_the_others_nothing() -> None:
    pictures = await FileReader(Brittle()).pdf_pictures(b"%PDF", [1, 2, 3], dpi=150)
    assert [picture is not None for picture in pictures] == [True, False, True]


async def test_a_huge_page_is_drawn_smaller(reader: FileReader) -> None:
    huge = pdf([line("x")]).replace(b"[0 0 612 792]", b"[0 0 14400 14400]")
    [picture] = await reader.pdf_pictures(huge, [1], dpi=150)
    assert picture is None or picture.width * picture.height <= 8_100_000
