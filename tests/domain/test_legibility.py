"""Legibility: what passes for text, in many scripts, and what does not."""

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.legibility import Verdict, judge

ENGLISH = (
    "The committee met on Tuesday and decided, after a long discussion, that the bridge over the"
    " river should be repaired before winter. Nobody objected, although several members would have"
    " preferred a new one. The costs are shared by both towns, and the work begins next month."
)
GERMAN = (
    "Der Ausschuss trat am Dienstag zusammen und beschloss nach langer Beratung, die Brücke über"
    " den Fluss noch vor dem Winter instand zu setzen. Niemand widersprach, obwohl mehrere"
    " Mitglieder lieber eine neue gehabt hätten. Die Kosten tragen beide Städte gemeinsam."
)
SAMPLES = {
    "English": ENGLISH,
    "German": GERMAN,
    "capitals": ENGLISH.upper(),
    "Latin": (
        "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani,"
        " tertiam qui ipsorum lingua Celtae, nostra Galli appellantur. Hi omnes lingua, institutis,"
        " legibus inter se differunt."
    ),
    "Welsh": (
        "Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau. Fe'u cynysgaeddir â"
        " rheswm a chydwybod, a dylai pawb ymddwyn y naill at y llall mewn ysbryd cymodlon."
    ),
    "Basque": (
        "Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela; eta"
        " ezaguera eta kontzientzia dutenez gero, elkarren artean senide legez jokatu beharra dute."
    ),
    "Zulu": (
        "Bonke abantu bazalwa bekhululekile belingana ngesithunzi nangamalungelo. Bahlanganiswe"
        " wumcabango nangunembeza futhi kufanele baphathane ngomoya wobunye."
    ),
    "Polish": (
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni"
        " obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa."
    ),
    "Vietnamese": (
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con"
        " người đều được tạo hóa ban cho lý trí và lương tâm và cần phải đối xử với nhau."
    ),
    "Turkish": (
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana"
        " sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler."
    ),
    "Russian": (
        "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены"
        " разумом и совестью и должны поступать в отношении друг друга в духе братства."
    ),
    "Greek": (
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι"
        " προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους."
    ),
    "Hebrew": (
        "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך"
        " חובה עליהם לנהוג איש ברעהו ברוח של אחווה."
    ),
    "Arabic": (
        "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميراً وعليهم أن"
        " يعامل بعضهم بعضاً بروح الإخاء. لكل إنسان حق التمتع بكافة الحقوق والحريات."
    ),
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "Thai": ("มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม"),
    "Chinese": (
        "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。"
    ),
    "Taiwanese": (
        "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神互相對待。"
    ),
    "Japanese": (
        "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。"
    ),
    "Korean": (
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로"
    ),
    "short": "Hello, world!",
    "one word": "Schtscherbatschow",
    "numbers": "2019 1.234,56 € 12 %\n2020 2.345,67 € 13 %\n2021 −17,00 €",
    "digits alone": "12 345 678",
    "a table": "Rank Name Pts\n1 Nguyễn Văn Thắng 17\n2 Krzysztof Brzęczyszczykiewicz 16\n3 Ng 9",
    "code": "def main() -> int:\n    return sum(len(x) for x in open(path, 'rb')) & 0xFF  # size\n"
    * 3,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_text_is_legible(name: str) -> None:
    assert judge(SAMPLES[name]).verdict is Verdict.LEGIBLE


@pytest.mark.parametrize("by", range(1, 26))
@pytest.mark.parametrize("text", [ENGLISH, GERMAN], ids=["en", "de"])
def test_a_shifted_layer_is_garbled(text: str, by: int) -> None:
    letters = string.ascii_lowercase
    table = str.maketrans(letters, letters[by:] + letters[:by])
    assert judge(text.lower().translate(table)).verdict is Verdict.GARBLED


@pytest.mark.parametrize("by", [1, 2, 3, -1, -3, 29, -29])
def test_a_layer_shifted_through_the_whole_code_is_not_legible(by: int) -> None:
    shifted = "".join(c if c == " " else chr(ord(c) + by) for c in ENGLISH)
    assert judge(shifted).verdict in (Verdict.GARBLED, Verdict.CODES)


LETTERS = string.ascii_lowercase + "äöüß"


@given(
    text=st.sampled_from([ENGLISH, GERMAN, ENGLISH + GERMAN]),
    swapped=st.permutations(LETTERS).filter(
        lambda letters: sum(map(str.__eq__, letters, LETTERS)) < len(LETTERS) // 2
    ),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_a_page_whose_letters_are_swapped_at_random_is_garbled(
    text: str, swapped: list[str]
) -> None:
    page = (text * 4).lower()
    table = str.maketrans(LETTERS, "".join(swapped))
    assert judge(page.translate(table)).verdict is Verdict.GARBLED


@pytest.mark.parametrize(("least", "text"), [(97, ENGLISH), (97, GERMAN)], ids=["en", "de"])
def test_nearly_every_paragraph_whose_letters_are_swapped_is_garbled(least: int, text: str) -> None:
    random_ = random.Random(7)
    caught = 0
    for _ in range(100):
        table = str.maketrans(LETTERS, "".join(random_.sample(LETTERS, len(LETTERS))))
        caught += judge(text.lower().translate(table)).verdict is Verdict.GARBLED
    assert caught >= least


def test_russian_read_as_latin_is_garbled() -> None:
    mojibake = SAMPLES["Russian"].encode("cp1251").decode("cp1252", "replace")
    assert judge(mojibake).verdict is not Verdict.LEGIBLE


def test_random_ideographs_are_garbled() -> None:
    random_ = random.Random(7)
    assert judge("".join(chr(random_.randint(0x4E00, 0x9FA5)) for _ in range(200))).verdict is (
        Verdict.GARBLED
    )


def test_codes_of_glyphs_are_no_letters() -> None:
    assert judge("\x01\x02\x03 \x19\x12 ab").verdict is Verdict.CODES
    assert judge("\ue001\ue002\uf0b7 ab").verdict is Verdict.CODES


def test_nothing_visible_is_empty() -> None:
    assert judge(" \r\n\t\u00a0\u200b").verdict is Verdict.EMPTY


@pytest.mark.parametrize(
    ("raw", "verdict"),
    [("abc⚙⚙", Verdict.LEGIBLE), ("ab⚙⚙", Verdict.CODES), ("ab⚙⚙ 12,34; 5 €", Verdict.CODES)],
)
def test_sixty_percent_of_what_is_neither_digit_nor_punctuation(raw: str, verdict: str) -> None:
    assert judge(raw).verdict == verdict


def test_digits_and_punctuation_are_visible_but_not_counted() -> None:
    found = judge("Ab 12,3\r\n")
    assert (found.visible, found.letters) == (6, 1.0)


@given(st.text(st.characters(codec=None)))
def test_any_text_gets_a_verdict(raw: str) -> None:
    found = judge(raw)
    assert 0 <= found.letters <= 1
    assert found.visible <= len(raw)
