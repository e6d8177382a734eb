"""What an answer says that its passages do not: found; what they do say: left alone."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.checks import checks_of
from domain.conversation import AnswerMode
from tests.domain.answers import answer_of

EN = (
    """The bridge was opened on March 12, 2024 by Anna Berg. It is 1,234.5 m long and cost 3 million
    euros, 45 % more than planned. Three cranes lifted the deck. Heavy trucks may not cross it
    before 6 am. NATO engineers from Norway defeated the plans of Hamburg in 1998.""",
    "The tower is 98 m high. It was finished in May 2019 by Siemens, and 12 people work there.",
)
DE = (
    """Die Brücke wurde am 12. März 2024 von Anna Berg eröffnet. Sie ist 1.234,5 m lang und kostete
    3 Mio. Euro, 45 Prozent mehr als geplant. Drei Kräne hoben die Fahrbahn. Lastwagen dürfen sie
    nicht vor 6 Uhr befahren. Ingenieure der NATO aus Norwegen berieten 1998 die Stadt Hamburg.""",
    """Der Turm ist 98 m hoch. Er wurde im Mai 2019 von Siemens vollendet, und zwölf Leute arbeiten
    dort.""",
)


def doubts(
    text: str, passages: tuple[str, ...] = EN, language: str = "en"
) -> list[tuple[str, str]]:
    answer = answer_of(text, passages, language)
    return [(check.kind.value, answer.text[check.start : check.end]) for check in checks_of(answer)]


@pytest.mark.parametrize(
    "said",
    [
        "The bridge was opened on March 12, 2024 by Anna Berg [1].",
        "Anna Berg opened the bridge on 2024-03-12 [1].",
        "The bridge was opened on 12 March 2024 [1].",
        "It was opened in March 2024 by Anna Berg [1].",
        "It is 1.234,5 metres long and cost €3 million [1].",
        "It cost 3,000,000 euros, 45 percent more than planned [1].",
        "It took 3 cranes to lift the deck [1].",
        "Heavy trucks may not cross it before 06:00 [1].",
        "The tower, 98 meters high, was finished in 2019 [2], and the bridge in 2024 [1].",
        "Twelve people work in the tower [2].",
    ],
)
def test_what_an_english_passage_says_is_not_doubted(said: str) -> None:
    assert doubts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Die Brücke wurde am 12.3.2024 von Anna Berg eröffnet [1].",
        "Anna Berg eröffnete die Brücke im März 2024 [1].",
        "Sie ist 1234,5 Meter lang und kostete 3 Millionen Euro [1].",
        "Sie kostete 3.000.000 €, 45 % mehr als geplant [1].",
        "3 Kräne hoben die Fahrbahn [1].",
        "Lastwagen dürfen sie nicht vor 6:00 Uhr befahren [1].",
        "12 Leute arbeiten in dem Turm von Siemens [2].",
    ],
)
def test_what_a_german_passage_says_is_not_doubted(said: str) -> None:
    assert doubts(said, DE, "de") == []


LAW = (
    """Die Bundesrepublik Deutschland ist ein demokratischer Bundesstaat. Wahlberechtigt ist, wer
    das achtzehnte Lebensjahr vollendet hat. Das Amt des Bundespräsidenten dauert fünf Jahre;
    wählbar ist, wer das vierzigste Lebensjahr vollendet hat.""",
    """Die Miete beträgt 1.250,00 EUR monatlich und ist bis zum 3. Werktag zu zahlen. Die Kaution
    beträgt drei Monatsmieten, also 3.750,00 EUR. Das Mietverhältnis beginnt am 01.04.2023.
    Vermieterin ist Frau Petra Schmitz, Köln.""",
)
FIRM = (
    """The company was founded by Maria Lopez in Madrid on 5 May 1998. Revenue grew from $2.5
    million in 2019 to $4.1 million in 2021, an increase of 64%. It has about 120 people.""",
)


@pytest.mark.parametrize(
    "said",
    [
        "**Wahlrecht:** Wählen darf, wer mindestens 18 Jahre alt ist [1].",
        "Laut dem Grundgesetz ist Deutschland ein demokratischer Bundesstaat [1].",
        "Das Alter für die Wählbarkeit liegt bei 40 Jahren [1]. Die Amtszeit umfasst 5 Jahre [1].",
        "Die Kaltmiete liegt bei 1250 € pro Monat, die Kaution bei drei Monatsmieten [2].",
        "1. Miete: 1.250 Euro, fällig am dritten Werktag [2]\n2. Kaution: 3.750 € [2]",
        "Das Mietverhältnis besteht seit April 2023 mit Petra Schmitz aus Köln [2].",
    ],
)
def test_a_german_paraphrase_is_not_doubted(said: str) -> None:
    assert doubts(said, LAW, "de") == []


@pytest.mark.parametrize(
    "said",
    [
        "Maria Lopez founded the company in Madrid in May 1998 [1].",
        "Its revenue rose by 64 percent, from 2.5 to 4.1 million dollars, by 2021 [1].",
        "Roughly 120 people work there [1]. However, the report does not say where.",
    ],
)
def test_an_english_paraphrase_is_not_doubted(said: str) -> None:
    assert doubts(said, FIRM) == []


@pytest.mark.parametrize(
    "opening", ["Laut Quelle", "Pro Monat", "Gemäß Vertrag", "Große Risse", "Hohe Kosten"]
)
def test_what_opens_a_german_sentence_before_a_noun_is_no_name(opening: str) -> None:
    assert doubts(f"{opening}: drei Kräne hoben die Fahrbahn [1].", DE, "de") == []


def test_a_strange_name_that_opens_a_german_sentence_is_doubted() -> None:
    said = "Hanna Wolf eröffnete die Brücke im März 2024 [1]."
    assert doubts(said, DE, "de") == [("name", "Hanna Wolf")]


def test_a_year_bears_its_decade() -> None:
    assert doubts("The tower was finished in the 2010s [2].") == []
    assert doubts("The tower was finished in the 1990s [2].") == [("date", "1990s")]


@pytest.mark.parametrize(
    "said", ["£3 million", "GBP 3 million", "3 million pounds", "3 million lb"]
)
def test_pounds_are_money_or_a_weight(said: str) -> None:
    assert doubts(f"It took {said} [1].", ("It took 3 million pounds.",)) == []


def test_other_money_is_not_pounds() -> None:
    passages = ("It took 3 million pounds.",)
    assert doubts("It took 3 million euros [1].", passages) == [("number", "3 million euros")]


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("The bridge was opened on March 12, 2024 and cost €3 million [1].", "de"),
        ("It is 1,234.5 m long, and Three cranes lifted the deck [1].", "de"),
        ("Die Brücke wurde am 12. März 2024 eröffnet und kostete 3 Mio. € [1].", "en"),
        ("Der Turm ist 98 Meter hoch und wurde im Mai 2019 vollendet [2].", "en"),
    ],
)
def test_an_answer_in_another_language_than_its_passages_is_not_doubted(
    said: str, language: str
) -> None:
    assert doubts(said, DE if language == "de" else EN, language) == []


@pytest.mark.parametrize(
    ("said", "kind", "where"),
    [
        ("The bridge was opened on March 21, 2024 by Anna Berg [1].", "date", "March 21, 2024"),
        ("The bridge was opened on 2024-04-12 [1].", "date", "2024-04-12"),
        ("The tower was finished in June 2019 [2].", "date", "June 2019"),
        ("The tower was finished in 2018 [2].", "date", "2018"),
        ("It is 1,243.5 m long [1].", "number", "1,243.5 m"),
        ("It cost 3 billion euros [1].", "number", "3 billion euros"),
        ("It cost 3 million dollars [1].", "number", "3 million dollars"),
        ("It was 46 % more than planned [1].", "number", "46 %"),
        ("Five cranes lifted the deck [1].", "number", "Five"),
        ("The tower is 98 km high [2].", "number", "98 km"),
        ("The bridge was opened on March 12, 2024 by Anna Wolf [1].", "name", "Wolf"),
        ("The bridge was opened by Peter Wolf [1].", "name", "Peter Wolf"),
        ("UNESCO engineers from Norway came [1].", "name", "UNESCO"),
        ("NATO engineers from Sweden came in 1998 [1].", "name", "Sweden"),
        (
            "NATO engineers from Hamburg defeated the plans of Norway in 1998 [1].",
            "name",
            "Hamburg",
        ),
        ("Heavy trucks may cross it before 6 am [1].", "negation", "cross"),
        ("Heavy trucks may not cross it after 6 am [1].", "negation", "after"),
        ("The tower is not 98 m high [2].", "negation", "not"),
        ("The bridge is red and beautiful.", "uncited", "The bridge is red and beautiful."),
    ],
)
def test_a_fault_in_an_english_answer_is_found(said: str, kind: str, where: str) -> None:
    assert doubts(said)[0] == (kind, where)


@pytest.mark.parametrize(
    ("said", "kind", "where"),
    [
        ("Die Brücke wurde am 21. März 2024 von Anna Berg eröffnet [1].", "date", "21. März 2024"),
        ("Die Brücke wurde am 12.4.2024 eröffnet [1].", "date", "12.4.2024"),
        ("Der Turm wurde im Juni 2019 vollendet [2].", "date", "Juni 2019"),
        ("Sie ist 1.243,5 m lang [1].", "number", "1.243,5 m"),
        ("Sie kostete 3 Mrd. Euro [1].", "number", "3 Mrd. Euro"),
        ("Sie kostete 54 Prozent mehr als geplant [1].", "number", "54 Prozent"),
        ("Fünf Kräne hoben die Fahrbahn [1].", "number", "Fünf"),
        ("Der Turm ist 98 km hoch [2].", "number", "98 km"),
        ("Die Brücke wurde von Anna Wolf eröffnet [1].", "name", "Wolf"),
        ("Ingenieure der UNESCO berieten 1998 die Stadt Hamburg [1].", "name", "UNESCO"),
        ("Ingenieure der NATO aus Norwegen berieten 1998 die Stadt Bremen [1].", "name", "Bremen"),
        ("Lastwagen dürfen sie vor 6 Uhr befahren [1].", "negation", "vor"),
        ("Lastwagen dürfen sie nicht nach 6 Uhr befahren [1].", "negation", "nach"),
        ("Die Brücke ist schön und rot.", "uncited", "Die Brücke ist schön und rot."),
    ],
)
def test_a_fault_in_a_german_answer_is_found(said: str, kind: str, where: str) -> None:
    assert doubts(said, DE, "de")[0] == (kind, where)


@pytest.mark.parametrize(
    "said",
    [
        "## The Bridge over the River",
        "**The Opening in 1932**",
        "The most important facts are:",
        "Do you want to know more about it?",
        "I hope this helps you with your work!",
        "The sources do not say who painted the bridge.",
        "Who painted it remains open.",
        "Die Quellen nennen keinen Baumeister.",
        "Aus den Passagen geht nicht hervor, wer sie gemalt hat.",
        "```\nbridge = open(1932) # in Berlin by Peter\n```",
    ],
)
def test_what_is_no_claim_needs_no_marker(said: str) -> None:
    assert doubts(f"{said}\n\nThe tower is 98 m high [2].") == []


def test_a_marker_vouches_for_its_own_sentence_alone() -> None:
    text = "It is red. The tower is 98 m high.[2] It is blue today.\n- It is green inside\n- x [1]"
    assert [where for _, where in doubts(text)] == [
        "It is red.",
        "It is blue today.",
        "It is green inside",
    ]


def test_a_row_of_a_table_is_a_claim_and_its_head_is_none() -> None:
    text = "| Year | Work in Rome |\n|---|---|\n| 2019 | the tower [2] |\n| 2020 | a tower [2] |"
    assert doubts(text) == [("date", "2020")]


def test_the_address_of_a_link_is_no_claim() -> None:
    assert doubts("The [tower](https://x.example/1999/Foo) is 98 m high [2].") == []


def test_offsets_count_code_points_of_the_answer() -> None:
    assert doubts("🙂 **Yes**, the tower is `97 m` high [2].") == [("number", "97 m")]


@pytest.mark.parametrize("mode", [AnswerMode.GENERAL, AnswerMode.EXTRACTIVE])
def test_general_knowledge_and_quotes_are_not_checked(mode: AnswerMode) -> None:
    assert checks_of(answer_of("The tower is 97 m high.", EN, mode=mode)) == ()


@given(st.text(alphabet='aB1 .,%€-:[]*|#\n"é中und not May 2024', max_size=300))
def test_any_text_can_be_checked(text: str) -> None:
    answer = answer_of(f"{text} [1] {text}", (f"{text} 12 km May 2020", text))
    for check in checks_of(answer):
        assert 0 <= check.start < check.end <= len(answer.text)


@pytest.mark.parametrize(
    "unit",
    [
        "1,234 ",
        "a-",
        "12 345 ",
        "1.",
        "**",
        "| a ",
        "not ",
        "March 1 ",
        "Ab Cd ",
        "x. ",
        "[1] ",
        "„",
        "-",
        "--|",
    ],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit)) + " is so [1]."
        answer = answer_of(text, (unit * (2_000 // len(unit)) + "end.",))
        started = time.perf_counter()
        checks_of(answer)
        return time.perf_counter() - started

    seconds(1_000)
    assert seconds(20_000) < 1 + 20 * seconds(2_000)
