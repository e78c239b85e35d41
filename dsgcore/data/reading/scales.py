"""Orders of words that are known without asking: low, medium, high; never .. always; grades, sizes, ranges of numbers."""

from __future__ import annotations

import re
from collections.abc import Collection

# Each scale from its lowest to its highest step; words that mean the same step are separated by a bar.
_SCALES = (
    "none|no|absent|nil, minimal|trace, very low|verylow|lowest, low|lo, lower|medium low|mediumlow|fairly low, "
    "medium|med|mid|middle|moderate|average|normal|intermediate, upper|medium high|mediumhigh|fairly high, high|hi, "
    "very high|veryhigh|highest, extreme|extremely high|critical",
    "none|absent|normal|healthy, minimal|trace|questionable, very mild, mild|slight|light, moderate|medium, "
    "moderately severe, severe|serious|proliferative, very severe|critical|extreme, fatal",
    "never, almost never|very rarely|hardly ever, rarely|seldom, occasionally, sometimes, often|frequently|regularly, "
    "usually|mostly|very often, almost always|nearly always, always",
    "strongly disagree|totally disagree|fully disagree, disagree, somewhat disagree|slightly disagree|rather disagree, "
    "neutral|neither agree nor disagree|undecided|neither, somewhat agree|slightly agree|rather agree, agree, "
    "strongly agree|totally agree|fully agree",
    "very dissatisfied|very unsatisfied, dissatisfied|unsatisfied, somewhat dissatisfied, neutral, somewhat satisfied, "
    "satisfied, very satisfied",
    "very unlikely, unlikely, somewhat unlikely, neutral|even|possible, somewhat likely, likely, very likely, certain",
    "terrible|awful, very poor|very bad, poor|bad, below average, fair|ok|okay|average|acceptable|satisfactory|sufficient|"
    "normal|regular, above average, good, very good, great, excellent|superb, outstanding|perfect|ideal",
    "very negative|strongly negative, negative|neg, slightly negative, neutral|neu, slightly positive, positive|pos, "
    "very positive|strongly positive",
    "unacc|unacceptable, acc|acceptable, good, vgood|very good",
    "fair, good, very good|verygood, premium, ideal",
    "xxs|2xs, xs|extra small, s|small, m|medium|mid, l|large, xl|extra large|x large, xxl|2xl|very large, xxxl|3xl",
    "tiny|very small, small|little, medium|mid|middle|moderate, big|large, very big|very large, huge|giant|enormous",
    "very short|shortest, short, medium|average, long|tall, very long|very tall",
    "freezing, cold, cool, mild|lukewarm, warm, hot, very hot",
    "very slow, slow, medium|moderate|normal|average, fast|quick, very fast",
    "very weak, weak, medium|moderate|normal, strong, very strong",
    "very easy|trivial, easy|simple, medium|moderate|normal|intermediate, hard|difficult, very hard|very difficult, expert",
    "novice|newbie, beginner|elementary|basic, intermediate, upper intermediate, advanced, expert|proficient, master",
    "intern|trainee, junior|entry|entry level, mid|middle|mid level|regular, senior, lead|staff, principal",
    "bronze, silver, gold, platinum, diamond",
    "child|infant|baby|toddler, teen|teenager|adolescent|youth, young|young adult, adult|middle aged, senior|elderly|old",
    "first|1st, second|2nd, third|3rd, fourth|4th, fifth|5th, sixth|6th, seventh|7th, eighth|8th, ninth|9th, tenth|10th",
    "zero, one, two, three, four, five, six, seven, eight, nine, ten",
    "past|earlier, present|now, future|later",
    "low, below average, average, above average, high",
    "too low, about right|just right|right|ok, too high",
    "much worse, worse, slightly worse, same|unchanged|equal|no change, slightly better, better, much better",
    "decreased|decrease|down, unchanged|same|stable|flat|no change, increased|increase|up",
    "no schooling|preschool|none, primary|elementary|primary school, middle school|lower secondary, "
    "secondary|high school|highschool|upper secondary|secondary school, some college|vocational|associate|associates|diploma, "
    "college|bachelor|bachelors|undergraduate|university, master|masters|graduate|postgraduate, phd|doctorate|doctoral|doctor",
    "f, e, d-, d, d+, c-, c, c+, b-, b, b+, a-, a, a+",
    "d, cc|c-, c, ccc, b-, b, b+, bb-, bb, bb+, bbb-, bbb, bbb+, a-, a, a+, aa-, aa, aa+, aaa",
    "a1, a2, b1, b2, c1, c2",
    "i, ii, iii, iv, v, vi, vii, viii, ix, x, xi, xii",
    "monday|mon, tuesday|tue, wednesday|wed, thursday|thu, friday|fri, saturday|sat, sunday|sun",
    "january|jan, february|feb, march|mar, april|apr, may, june|jun, july|jul, august|aug, september|sep, october|oct, "
    "november|nov, december|dec",
    "weak|poor, fair, good|strong",
    "low risk, medium risk|moderate risk|intermediate risk, high risk, very high risk",
    "benign|normal, suspicious|suspect|borderline|uncertain, malignant|pathological|pathologic",
    "green, yellow|amber|orange, red",
    "niedrig|gering|tief, mittel, hoch|gross|groß",
    "nie, selten, manchmal, oft|häufig, immer",
    "bajo|baja, medio|media, alto|alta",
    "faible|bas, moyen|moyenne, élevé|haut|fort",
)
_STEPS = [
    {word.strip(): place for place, step in enumerate(scale.split(", ")) for word in step.split("|")}
    for scale in _SCALES
]
_LETTERS = re.compile(r"[a-f][+-]?")
_NUMBER = r"[-+]?\d+(?:[.,]\d+)?"
_RANGE = re.compile(rf"[(\[]?\s*({_NUMBER})\s*(?:-|–|—|to|,|;|\.\.|bis|until)\s*({_NUMBER})\s*[)\]]?")
_OPEN_BELOW = re.compile(rf"(?:<=?|≤|under|below|up to|less than|at most|fewer than|unter|bis)\s*({_NUMBER})")
_OPEN_ABOVE = re.compile(
    rf"(?:>=?|≥|over|above|more than|at least|from|über|ab)\s*({_NUMBER})|({_NUMBER})\s*(?:\+|and over|and above|or more|plus)"
)
_COUNTED = re.compile(rf"(\D*?)({_NUMBER})(\D*)")
_UNITS = re.compile(r"(?<=\d)\s*(?:years?|yrs?|y|days?|kg|g|cm|mm|m|km|k|€|\$|%)(?=\W|$)")


def known_order(names: Collection[str]) -> list[str] | None:
    """Return words in their known order, the lowest first; None if it is not known."""
    plain = {name: " ".join(re.sub(r"[\s_./-]+(?=\w)", " ", name.strip().lower()).split()) for name in names}
    if len(set(plain.values())) < len(plain):
        return None
    for steps in _STEPS:
        places = {name: steps.get(plain[name], steps.get(name.strip().lower())) for name in names}
        if None not in places.values() and len(set(places.values())) == len(names):
            is_grade = all(_LETTERS.fullmatch(name.strip().lower()) for name in names)
            if not is_grade or "f" in plain.values() or any(name[-1] in "+-" for name in names) or len(names) > 2:
                return sorted(names, key=lambda name: places[name] or 0)
    return _by_numbers(names)


def _by_numbers(names: Collection[str]) -> list[str] | None:
    """Return ranges (18-30, <18, [0, 10)) and counted words (1 star, grade 2) by their numbers."""
    keys = {name: _range(_UNITS.sub("", name.strip().lower())) for name in names}
    if None in keys.values():
        found = {name: _COUNTED.fullmatch(name.strip().lower()) for name in names}
        ends = {(one[1].strip(), one[3].strip().rstrip("s")) for one in found.values() if one}
        if not all(found.values()) or len(ends) > 1:
            return None
        keys = {name: (_value(one[2]), 0.0) for name, one in found.items() if one}
    return sorted(names, key=lambda name: keys[name] or (0.0, 0.0)) if len(set(keys.values())) == len(names) else None


def _range(text: str) -> tuple[float, float] | None:
    if one := _RANGE.fullmatch(text):
        return _value(one[1]), _value(one[2])
    if one := _OPEN_BELOW.fullmatch(text):
        return float("-inf"), _value(one[1])
    if one := _OPEN_ABOVE.fullmatch(text):
        return _value(one[1] or one[2]), float("inf")
    return (_value(text), _value(text)) if re.fullmatch(_NUMBER, text) else None


def _value(text: str) -> float:
    return float(text.replace(",", "."))
