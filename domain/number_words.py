"""Words for numbers, scales and units, German and English."""

from collections.abc import Mapping, Sequence


def _table(lines: Mapping[float, str]) -> dict[str, float]:
    return {word: value for value, words in lines.items() for word in words.split()}


SCALES = _table({
    1e2: "hundred hundert",
    1e3: "thousand thousands tausend tsd k",
    1e6: "million millions millionen mio mln mn",
    1e9: "milliarde milliarden mrd bn billions",
    1e12: "billionen trillion trillions trn",
})  # fmt: skip
"""All but "billion", which is 10⁹ in English and 10¹² in German."""
SCALE_LETTERS = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
ABBREVIATED = {"mio", "mrd", "tsd"}

_UNIT_LINES = """
% percent prozent pct
pp prozentpunkte prozentpunkten prozentpunkt percentage
€ eur euro euros
$ usd dollar dollars
£ gbp
chf franken francs
¥ yen
cent cents
mm millimeter millimetre millimeters millimetres millimetern
cm centimeter centimetre centimeters centimetres zentimeter zentimetern
m meter metre meters metres metern
km kilometer kilometre kilometers kilometres kilometern
mile miles meile meilen
foot feet ft fuß
inch inches zoll
yard yards
mg milligramm milligram milligrams
g gramm gram grams
kg kilogramm kilogram kilograms kilo kilos
t tonne tonnen tonnes ton tons
lb lbs
pound pounds pfund
l liter litre liters litres litern
ml milliliter
ms millisecond milliseconds millisekunden millisekunde
s sec second seconds sekunde sekunden
min minute minutes minuten
h hour hours stunde stunden std
day days tag tage tagen tages
week weeks woche wochen
month months monat monate monaten monats
year years jahr jahre jahren jahres
decade decades jahrzehnt jahrzehnte jahrzehnten
century centuries jahrhundert jahrhunderte jahrhunderten jahrhunderts
hz hertz
khz
mhz megahertz
ghz gigahertz
w watt
kw kilowatt
mw megawatt
gw gigawatt
wh
kwh
mwh
gwh
v volt
bit bits
byte bytes
kb kilobyte kilobytes
mb megabyte megabytes
gb gigabyte gigabytes
tb terabyte terabytes
ha hektar hectare hectares
acre acres
kmh
mph
"""
UNITS = {
    name: line.split()[0]
    for line in _UNIT_LINES.strip().splitlines()
    for name in line.split()
}  # fmt: skip
"""Each name of a unit, case-folded, with its usual short form."""
CASED = {"M", "B", "T", "K", "S", "V", "H", "W", "L"}
"""Letters that name a scale or a model rather than the unit written small."""
ORDINAL_ENDINGS = {"st", "nd", "rd", "th", "er", "fach", "fold", "x", "te", "ten", "ter", "tes"}

_EN = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""
_DE = """null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn
fünfzehn sechzehn siebzehn achtzehn neunzehn"""
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"


def _cardinals(en: Sequence[str], de: Sequence[str]) -> dict[str, float]:
    """Zero to ninety-nine, and the German hundreds and thousands that are one word."""
    words = {word: float(n) for row in (en, de) for n, word in enumerate(row)}
    for tens, (english, german) in enumerate(
        zip(_EN_TENS.split(), _DE_TENS.split(), strict=True), 2
    ):
        words |= {english: tens * 10.0, german: tens * 10.0}
        for unit in range(1, 10):
            words[f"{english}-{en[unit]}"] = tens * 10.0 + unit
            words[f"{de[unit].removesuffix('s') if unit == 1 else de[unit]}und{german}"] = (
                tens * 10.0 + unit
            )
    for unit in range(2, 10):
        words |= {f"{de[unit]}hundert": unit * 100.0, f"{de[unit]}tausend": unit * 1000.0}
    return words | _table({12.0: "dozen dutzend", 100.0: "hundert einhundert", 1000.0: "tausend"})


def _ordinals(cardinals: Mapping[str, float]) -> dict[str, float]:
    """From the eleventh on: "twentieth", "twenty-first", "achtzehnte", "vierzigsten"."""
    words: dict[str, float] = {}
    for word, value in cardinals.items():
        if not 10 < value < 100:  # noqa: PLR2004 - the others are written out below
            continue
        tens, _, unit = word.rpartition("-")
        small = (
            _SMALL_ORDINALS.get(unit) or f"{unit.removesuffix('y')}{'ie' * unit.endswith('y')}th"
        )
        words[f"{tens}-{small}" if tens else small] = value
        stem = f"{word}{'s' * (value >= 20)}te"  # noqa: PLR2004 - "neunzehnte", "zwanzigste"
        words |= {f"{stem}{ending}": value for ending in ("", "n", "r", "s", "m")}
    return words


_SMALL_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
CARDINALS = _cardinals(_EN.split(), _DE.split())
HINTS = _ordinals(CARDINALS) | _table({
    1.0: "one a an ein eine einen einem einer eines once einmal single einzige",
    2.0: """both twice double pair couple second half beide beiden beider zweier zweien zweimal
        doppelt paar zweite zweiten zweiter zweites""",
    3.0: """third triple dreier dreien dreimal dritte dritten dritter drittes dreifach thrice""",
    4.0: "fourth quarter vierte vierten vierter viermal viertel",
    5.0: "fifth fünfte fünften fünfter",
    6.0: "sixth sechste sechsten sechster",
    7.0: "seventh siebte siebten siebter",
    8.0: "eighth achte achten achter",
    9.0: "ninth neunte neunten neunter",
    10.0: "tenth zehnte zehnten zehnter",
})  # fmt: skip
"""What supports a number without stating it."""
