"""Bessel functions of orders 0 and 1 and Airy's function, as functions of others, computed in float64.

The quotients of polynomials and the Chebyshev series are those of Cephes. PyTorch's own leave out the first coefficient
of some denominators, so that they have seven digits around 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .special_functions import in_doubles, modified_bessel, quotient

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten

_J0_COSINE = (
    (
        0.0007969367292973471, 0.08283523921074408, 1.239533716464143, 5.447250030587687, 8.74716500199817,
        5.303240382353949, 1.0,
    ),
    (
        0.0009244088105588637, 0.08562884743544745, 1.2535274390105895, 5.470977403304171, 8.761908832370695,
        5.306052882353947, 1.0,
    ),
)  # fmt: skip
_J0_SINE = (
    (
        -0.011366383889846916, -1.2825271867050931, -19.553954425773597, -93.20601521237683, -177.68116798048806,
        -147.07750515495118, -51.41053267665993, -6.050143506007285,
    ),
    (
        1.0, 64.3178256118178, 856.4300259769806, 3882.4018360540163, 7240.467741956525, 5930.727011873169,
        2062.0933166032783, 242.0057402402914,
    ),
)  # fmt: skip
_J0_NEAR = (
    (
        -4794432209.782018, 1956174919465.5657, -249248344360967.72, 9708622510473064.0,
    ),
    (
        1.0, 499.563147152651, 173785.4016763747, 48440965.83399621, 11185553704.535683, 2112775201154.892,
        310518229857422.56, 3.1812195594320496e+16, 1.7108629408104315e+18,
    ),
)  # fmt: skip
_Y0_NEAR = (
    (
        15592.436785523574, -14663929.59039716, 5435264770.518765, -982136065717.9115, 87590639439536.7,
        -3466283033847297.0, 4.4273326857256984e+16, -1.8495080043698668e+16,
    ),
    (
        1.0, 1041.2835366425984, 626107.330137135, 268919633.39381415, 86400248710.3935, 20297961275010.555,
        3171577528429750.5, 2.5059625617265306e+17,
    ),
)  # fmt: skip
_J1_COSINE = (
    (
        0.0007621256162081731, 0.07313970569409176, 1.1271960812968493, 5.112079511468076, 8.424045901417724,
        5.214515986823615, 1.0,
    ),
    (
        0.0005713231280725487, 0.06884559087544954, 1.105142326340617, 5.073863861286015, 8.399855543276042,
        5.209828486823619, 1.0,
    ),
)  # fmt: skip
_J1_SINE = (
    (
        0.05108625947501766, 4.982138729512334, 75.82382841325453, 366.7796093601508, 710.8563049989261,
        597.4896124006136, 211.68875710057213, 25.207020585802372,
    ),
    (
        1.0, 74.23732770356752, 1056.4488603826283, 4986.410583376536, 9562.318924047562, 7997.041604473507,
        2826.1927851763908, 336.0936078106983,
    ),
)  # fmt: skip
_J1_NEAR = (
    (
        -899971225.7055594, 452228297998.19403, -72749424522181.83, 3682957328638529.0,
    ),
    (
        1.0, 620.8364781180543, 256987.25675774884, 83514679.14319493, 22151159547.97925, 4749141220799.914,
        784369607876235.9, 8.952223361846274e+16, 5.322786203326801e+18,
    ),
)  # fmt: skip
_Y1_NEAR = (
    (
        1263204747.9017804, -647355876379.1603, 114509511541823.73, -8127702555013251.0, 2.024394757135949e+17,
        -7.788771962659501e+17,
    ),
    (
        1.0, 594.3015923461282, 235564.09294306856, 73481194.44597217, 18760131610.870617, 3882312774962.3857,
        620557727146953.8, 6.871410873553005e+16, 3.9727060811656064e+18,
    ),
)  # fmt: skip
_AIRY_POSITIVE = (
    (
        0.346538101525629, 12.007595273964581, 76.27960536152345, 168.08922493463058, 159.75639135016442,
        70.53609068404442, 14.026469116338967, 1.0,
    ),
    (
        0.5675945326387702, 14.75625625848472, 84.51389701414746, 177.31808814540045, 164.2346928715297,
        71.47784008255756, 14.095913560783403, 1.0,
    ),
)  # fmt: skip
_AIRY_SINE = (
    (
        -0.1316963234183318, -0.6264565444319123, -0.6931580360369335, -0.2797799815451191, -0.04919001326095003,
        -0.004062659235948854, -0.0001592764962392621, -2.776491081552329e-06, -1.6778769848911465e-08,
    ),
    (
        1.0, 13.356042070655324, 32.682503279522464, 26.736704094149957, 9.187074029072596, 1.4752914677166642,
        0.11568717379518804, 0.004402916416152112, 7.547203482874142e-05, 4.5185009297058035e-07,
    ),
)  # fmt: skip
_AIRY_COSINE = (
    (
        0.01973399320916857, 0.39110302961568827, 1.0657989759959559, 0.9391692298166502, 0.35146565610554764,
        0.06338889196289255, 0.005858041130483885, 0.000282851600836737, 6.98793669997261e-06, 8.117892395543892e-08,
        3.415517847659236e-10,
    ),
    (
        1.0, 9.30892908077442, 19.835292871831214, 15.564662893286462, 5.476860694229755, 0.9542936116189619,
        0.08645808263523921, 0.004126565238242226, 0.00010125908511650914, 1.1716673321441352e-06,
        4.9183457006293e-09,
    ),
)  # fmt: skip
_K0_NEAR = (
    1.374465435613523e-16, 4.25981614279661e-14, 1.0349695257633842e-11, 1.904516377220209e-09,
    2.5347910790261494e-07, 2.286212103119452e-05, 0.001264615411446926, 0.0359799365153615, 0.3442898999246285,
    -0.5353273932339028,
)  # fmt: skip
_K0_FAR = (
    5.300433772686263e-18, -1.6475804301524212e-17, 5.2103915050390274e-17, -1.678231096805412e-16,
    5.512055978524319e-16, -1.848593377343779e-15, 6.3400764774050706e-15, -2.2275133269916698e-14,
    8.032890775363575e-14, -2.9800969231727303e-13, 1.140340588208475e-12, -4.514597883373944e-12,
    1.8559491149547177e-11, -7.957489244477107e-11, 3.577397281400301e-10, -1.69753450938906e-09,
    8.574034017414225e-09, -4.660489897687948e-08, 2.766813639445015e-07, -1.8317555227191195e-06,
    1.39498137188765e-05, -0.00012849549581627802, 0.0015698838857300533, -0.0314481013119645, 2.4403030820659555,
)  # fmt: skip
_K1_NEAR = (
    -7.023863479386288e-18, -2.427449850519366e-15, -6.666901694199329e-13, -1.4114883926335278e-10,
    -2.213387630734726e-08, -2.4334061415659684e-06, -0.0001730288957513052, -0.006975723859639864,
    -0.12261118082265715, -0.3531559607765449, 1.5253002273389478,
)  # fmt: skip
_K1_FAR = (
    -5.756744483665017e-18, 1.7940508731475592e-17, -5.689462558442859e-17, 1.838093544366639e-16,
    -6.057047248373319e-16, 2.038703165624334e-15, -7.019837090418314e-15, 2.4771544244813043e-14,
    -8.976705182324994e-14, 3.3484196660784293e-13, -1.2891739609510289e-12, 5.13963967348173e-12,
    -2.1299678384275683e-11, 9.218315187605006e-11, -4.1903547593418965e-10, 2.015049755197033e-09,
    -1.0345762465678097e-08, 5.7410841254500495e-08, -3.5019606030878126e-07, 2.406484947837217e-06,
    -1.936197974166083e-05, 0.00019521551847135162, -0.002857816859622779, 0.10392373657681724, 2.7206261904844427,
)  # fmt: skip

_J0_ROOTS = 5.78318596294678452118, 30.4712623436620863991
_J1_ROOTS = 14.6819706421238932572, 49.2184563216946036703
"""The squares of the first two places where the functions are 0."""
_AIRY_AT_0, _AIRY_SLOPE_AT_0 = 0.355028053887817239260, 0.258819403792806798405
_AIRY_TERMS = 14
_FROM_HERE_ON = 5.0
"""From here on the functions are a cosine and a sine with slowly varying factors."""


class _Order:
    """A Bessel function of the first and of the second kind."""

    def __init__(self, order: int, cosine: Any, sine: Any, near: Any, second: Any, roots: Sequence[float]) -> None:
        self._order, self._cosine, self._sine, self._near, self._second = order, cosine, sine, near, second
        self._roots = roots

    def _far(self, x: torch.Tensor, is_second: bool) -> torch.Tensor:
        ratio = _FROM_HERE_ON / x
        even, odd = quotient(self._cosine, ratio * ratio), ratio * quotient(self._sine, ratio * ratio)
        angle = x - (0.25 + self._order / 2) * math.pi
        sine, cosine = torch.sin(angle), torch.cos(angle)
        found = even * sine + odd * cosine if is_second else even * cosine - odd * sine
        return found * torch.sqrt(2 / math.pi / x)

    def _close(self, x: torch.Tensor) -> torch.Tensor:
        square = x * x
        found = (square - self._roots[0]) * (square - self._roots[1]) * quotient(self._near, square)
        return found * x if self._order else found

    def first(self, x: torch.Tensor) -> torch.Tensor:
        size = x.abs()
        is_far = size > _FROM_HERE_ON
        # Beside a number that is not used, so that none is infinite.
        far, close = torch.where(is_far, size, _FROM_HERE_ON), torch.where(is_far, 0.0, size)
        found = torch.where(is_far, self._far(far, False), self._close(close))
        found = torch.where(x.isnan(), x, found)
        return found * x.sign() if self._order else found

    def second(self, x: torch.Tensor) -> torch.Tensor:
        is_far = x > _FROM_HERE_ON
        far, close = torch.where(is_far, x, _FROM_HERE_ON), torch.where(is_far, 1.0, x)
        regular = quotient(self._second, close * close)
        logarithm = self._close(close) * torch.log(close)
        if self._order:
            regular, logarithm = regular * close, logarithm - 1 / close
        found = torch.where(is_far, self._far(far, True), regular + 2 / math.pi * logarithm)
        return torch.where(x > 0, found, torch.where(x == 0, -math.inf, math.nan))


_J0 = _Order(0, _J0_COSINE, _J0_SINE, _J0_NEAR, _Y0_NEAR, _J0_ROOTS)
_J1 = _Order(1, _J1_COSINE, _J1_SINE, _J1_NEAR, _Y1_NEAR, _J1_ROOTS)


def _chebyshev(coefficients: Sequence[float], x: torch.Tensor) -> torch.Tensor:
    """A series of Chebyshev polynomials of x / 2, the highest first."""
    a, b, c = torch.full_like(x, coefficients[0]), torch.zeros_like(x), torch.zeros_like(x)
    for one in coefficients[1:]:
        a, b, c = x * a - b + one, a, b
    return (a - c) / 2


def _second_modified(order: int, scaled: bool) -> Callable[..., torch.Tensor]:
    """A modified Bessel function of the second kind, times exp(x) where it is scaled."""
    near, far = (_K1_NEAR, _K1_FAR) if order else (_K0_NEAR, _K0_FAR)

    def function(x: torch.Tensor) -> torch.Tensor:
        is_far = x > 2
        outer, inner = torch.where(is_far, x, 2.0), torch.where(is_far, 1.0, x)
        distant = _chebyshev(far, 8 / outer - 2) / torch.sqrt(outer)
        distant = distant if scaled else distant * torch.exp(-outer)
        series, logarithm = _chebyshev(near, inner * inner - 2), torch.log(inner / 2) * modified_bessel(order, inner)
        close = logarithm + series / inner if order else series - logarithm
        close = close * torch.exp(inner) if scaled else close
        found = torch.where(is_far, distant, close)
        return torch.where(x > 0, found, torch.where(x == 0, math.inf, math.nan))

    return in_doubles(function)


@in_doubles
def _spherical(x: torch.Tensor) -> torch.Tensor:
    found = torch.where(x == 0, 1.0, torch.sin(x) / torch.where(x == 0, 1.0, x))
    return torch.where(x.isinf(), 0.0, found)


@in_doubles
def _airy(x: torch.Tensor) -> torch.Tensor:
    negative, positive = x < -2.09, x >= 2.09
    # A cosine and a sine on the left, an exponential on the right, and a power series between them.
    size = torch.where(negative | positive, x.abs(), 2.09)
    root = torch.sqrt(size)
    zeta = 2 / 3 * size * root
    factor = 1 / math.sqrt(math.pi) / torch.sqrt(root)
    right = factor * quotient(_AIRY_POSITIVE, 1 / zeta) / 2 * torch.exp(-zeta)
    z = 1 / zeta
    angle = zeta + math.pi / 4
    sine = 1 + z * z * quotient(_AIRY_SINE, z * z)
    left = factor * (torch.sin(angle) * sine - torch.cos(angle) * z * quotient(_AIRY_COSINE, z * z))
    inner = torch.where(negative | positive, 0.0, x)
    cube = inner * inner * inner
    f: Any = 1.0
    g: Any = 1.0
    for k in range(3 * _AIRY_TERMS, 0, -3):
        f, g = 1 + cube * f / ((k - 1) * k), 1 + cube * g / (k * (k + 1))
    center = _AIRY_AT_0 * f - _AIRY_SLOPE_AT_0 * inner * g
    found = torch.where(negative, left, torch.where(positive, right, center))
    return torch.where(x.isinf() | x.isnan(), math.nan, found)


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {
        _aten.special_bessel_j0.default: in_doubles(_J0.first), _aten.special_bessel_j1.default: in_doubles(_J1.first),
        _aten.special_bessel_y0.default: in_doubles(_J0.second),
        _aten.special_bessel_y1.default: in_doubles(_J1.second),
        _aten.special_modified_bessel_k0.default: _second_modified(0, False),
        _aten.special_modified_bessel_k1.default: _second_modified(1, False),
        _aten.special_scaled_modified_bessel_k0.default: _second_modified(0, True),
        _aten.special_scaled_modified_bessel_k1.default: _second_modified(1, True),
        _aten.special_spherical_bessel_j0.default: _spherical, _aten.special_airy_ai.default: _airy,
    }  # fmt: skip
