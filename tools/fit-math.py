"""Writes passes/kernel-math/Coefficients.h: the polynomials of `expand-math`, by Remez's algorithm.

python tools/fit-math.py      (needs mpmath)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mpmath as mp

OUTPUT = Path(__file__).resolve().parent.parent / "passes" / "kernel-math" / "Coefficients.h"
Function = Callable[[mp.mpf], mp.mpf]
mp.mp.prec = 220
TINY = mp.mpf(10) ** -12


def fit(function: Function, low: object, high: object, degree: int, weight: Function) -> tuple[list[mp.mpf], mp.mpf]:
    """The polynomial p, lowest power first, that minimises the largest |weight (p - function)|, and that."""
    a, b, count = mp.mpf(low), mp.mpf(high), degree + 1
    nodes = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * k / count) for k in range(count + 1)]
    dense = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * k / (12 * count)) for k in range(12 * count + 1)]
    for _ in range(6):
        system, right = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for i, x in enumerate(nodes):
            for j in range(count):
                system[i, j] = x**j
            system[i, count] = (-1) ** i / weight(x)
            right[i] = function(x)
        coefficients = list(mp.lu_solve(system, right))[:count]
        errors = [weight(x) * (mp.polyval(coefficients[::-1], x) - function(x)) for x in dense]
        peaks = [0]
        for k, error in enumerate(errors):
            if mp.sign(error) != mp.sign(errors[peaks[-1]]):
                peaks.append(k)
            elif abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = k
        if len(peaks) < count + 1:
            break
        while len(peaks) > count + 1:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        nodes = [dense[k] for k in peaks]
    return coefficients, max(map(abs, errors))


def of_square(function: Function) -> Function:
    """`function` of x as one of x squared."""
    return lambda z: function(mp.sqrt(z))


HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.002")
QUARTER_PI = (mp.pi / 4) ** 2 * mp.mpf("1.004")
EIGHTH_PI = mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.01")
LOG = mp.mpf("0.1717") ** 2

# Name, what it is, function, range, weight, degrees for f32 and f64. The weights make the errors relative to results.
FITS = [
    ("kExp", "(e^r - 1 - r) / r^2, of |r| <= ln(2) / 2", lambda r: (mp.expm1(r) - r) / r**2,
     (-HALF_LN2, HALF_LN2 * mp.mpf("1.0001")), lambda r: max(abs(r), mp.mpf("0.03")) ** 2, (4, 9)),
    ("kSin", "(sin x - x) / x^3, of x^2 where |x| <= pi / 4", of_square(lambda x: (mp.sin(x) - x) / x**3),
     (TINY, QUARTER_PI), lambda z: z, (2, 5)),
    ("kCos", "(cos x - 1 + x^2 / 2) / x^4, of x^2 where |x| <= pi / 4",
     of_square(lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4),
     (TINY, QUARTER_PI), lambda z: z * z, (2, 5)),
    ("kAsin", "(asin x - x) / x^3, of x^2 where |x| <= 1/2", of_square(lambda x: (mp.asin(x) - x) / x**3),
     (TINY, "0.2501"), lambda z: z, (5, 12)),
    ("kAtan", "(atan x - x) / x^3, of x^2 where |x| <= tan(pi / 8)", of_square(lambda x: (mp.atan(x) - x) / x**3),
     (TINY, EIGHTH_PI), lambda z: z, (4, 10)),
    ("kLog", "(2 atanh(s) / s - 2) / s^2, of s^2 where |s| <= 0.1717",
     of_square(lambda s: (2 * mp.atanh(s) / s - 2) / s**2),
     (TINY, LOG), lambda z: z, (2, 6)),
    ("kLogTail", "(atanh(s) / s - 1 - s^2 / 3) / s^4, of s^2 where |s| <= 0.1717",
     of_square(lambda s: (mp.atanh(s) / s - 1 - s * s / 3) / s**4), (TINY, LOG), lambda z: z * z, (2, 7)),
    ("kErf", "erf(x) / x - 1, of x^2 where |x| <= 1", of_square(lambda x: mp.erf(x) / x - 1),
     (TINY, "1.002"), lambda z: mp.mpf(1), (7, 12)),
    ("kErfc", "erfc(x) e^(x^2), of 1 / (1 + x / 2) where 1 <= x",
     lambda t: mp.erfc(2 / t - 2) * mp.exp((2 / t - 2) ** 2),
     {24: (mp.mpf(1) / 3, mp.mpf(2) / 3), 53: (mp.mpf("0.24"), mp.mpf(2) / 3)},
     lambda t: mp.exp(-((2 / t - 2) ** 2)) + mp.mpf(10) ** -4, (5, 13)),
]  # fmt: skip

# A constant in three parts of 53 bits.
CONSTANTS = [("kLn2", "ln(2)", mp.log(2)), ("kLog2e", "log2(e)", 1 / mp.log(2)),
             ("kLog10e", "log10(e)", 1 / mp.log(10)),
             ("kHalfPi", "pi / 2", mp.pi / 2), ("kTwoOverPi", "2 / pi", 2 / mp.pi),
             ("kThird", "1 / 3", mp.mpf(1) / 3)]  # fmt: skip


def listed(values: list[str], indent: str = "    ", per_line: int = 4) -> str:
    rows = [", ".join(values[i : i + per_line]) for i in range(0, len(values), per_line)]
    return f",\n{indent}".join(rows)


def words_of_two_over_pi() -> list[str]:
    """64 zeros and the first 1216 bits of 2 / pi, 64 a word."""
    with mp.workprec(1400):
        number = int(mp.floor(2 / mp.pi * mp.mpf(2) ** 1216))
    return ["0x0"] + [hex(number >> 64 * (18 - k) & (1 << 64) - 1) for k in range(19)]


def main() -> None:
    lines = []
    for name, meaning, function, interval, weight, degrees in FITS:
        tables = []
        for bits, degree in zip((24, 53), degrees):
            low, high = interval[bits] if isinstance(interval, dict) else interval
            coefficients, error = fit(function, low, high, degree, weight)
            print(f"{name} for {bits} bits, degree {degree}: 2^{mp.nstr(mp.log(error, 2), 4)}")
            tables.append(listed([float(c).hex() for c in reversed(coefficients)]))
        lines += [f"/// {meaning}.", f"inline constexpr double {name}32[] = {{\n    {tables[0]}}};",
                  f"inline constexpr double {name}64[] = {{\n    {tables[1]}}};",
                  f"inline constexpr Polynomial {name}{{{name}32, {name}64}};", ""]  # fmt: skip
    for name, meaning, value in CONSTANTS:
        parts, rest = [], value
        for _ in range(3):
            parts.append(float(rest).hex())
            rest -= mp.mpf(float(rest))
        lines += [f"/// {meaning}.", f"inline constexpr Constant {name}{{{{{', '.join(parts)}}}}};"]
    words = listed(words_of_two_over_pi(), per_line=5)
    lines += [
        "",
        "/// The bits of 2 / pi behind the point, after 64 zeros.",
        f"inline constexpr uint64_t kBitsOfTwoOverPi[] = {{\n    {words}}};",
    ]
    OUTPUT.write_text(f"""//===- Coefficients.h - the numbers of expand-math ------------------------===//
// Written by tools/fit-math.py: change that instead.
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_KERNEL_MATH_COEFFICIENTS_H
#define TILEWRIGHT_KERNEL_MATH_COEFFICIENTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tilewright::kernelmath {{

/// The coefficients for f32 and for f64, that of the highest power first.
struct Polynomial {{
  llvm::ArrayRef<double> f32, f64;
}};

/// A number as a sum of three, each of which holds the next 53 bits.
struct Constant {{
  double parts[3];
}};

// clang-format off
{chr(10).join(lines)}
// clang-format on

}} // namespace tilewright::kernelmath

#endif
""")


if __name__ == "__main__":
    main()
