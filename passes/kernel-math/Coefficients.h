//===- Coefficients.h - the numbers of expand-math ------------------------===//
// Written by tools/fit-math.py: change that instead.
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_KERNEL_MATH_COEFFICIENTS_H
#define TILEWRIGHT_KERNEL_MATH_COEFFICIENTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tilewright::kernelmath {

/// The coefficients for f32 and for f64, that of the highest power first.
struct Polynomial {
  llvm::ArrayRef<double> f32, f64;
};

/// A number as a sum of three, each of which holds the next 53 bits.
struct Constant {
  double parts[3];
};

// clang-format off
/// (e^r - 1 - r) / r^2, of |r| <= ln(2) / 2.
inline constexpr double kExp32[] = {
    0x1.6dbcd92e6c34cp-10, 0x1.123c88974c527p-7, 0x1.5554522e1a42cp-5, 0x1.55548d56f0848p-3,
    0x1.00000058ee316p-1};
inline constexpr double kExp64[] = {
    0x1.af890a70aeb53p-26, 0x1.28b11dec73d35p-22, 0x1.71ddddb7c1e52p-19, 0x1.a01995b351e01p-16,
    0x1.a01a01bbbb235p-13, 0x1.6c16c185f79b1p-10, 0x1.111111110d419p-7, 0x1.555555554fecep-5,
    0x1.5555555555561p-3, 0x1.000000000000cp-1};
inline constexpr Polynomial kExp{kExp32, kExp64};

/// (sin x - x) / x^3, of x^2 where |x| <= pi / 4.
inline constexpr double kSin32[] = {
    -0x1.9947ad6d86716p-13, 0x1.11074ce68deaep-7, -0x1.5555456eb4ce1p-3};
inline constexpr double kSin64[] = {
    0x1.5d8fa1e8cec0bp-33, -0x1.ae5e5b082ed9dp-26, 0x1.71de356a08570p-19, -0x1.a01a019c02a5ap-13,
    0x1.111111110f80ap-7, -0x1.5555555555549p-3};
inline constexpr Polynomial kSin{kSin32, kSin64};

/// (cos x - 1 + x^2 / 2) / x^4, of x^2 where |x| <= pi / 4.
inline constexpr double kCos32[] = {
    0x1.99fb5d6763c57p-16, -0x1.6c0c73d51ac38p-10, 0x1.55554a8dbe51ap-5};
inline constexpr double kCos64[] = {
    -0x1.8faafbcb8dd97p-37, 0x1.1ee9e52b75955p-29, -0x1.27e4f8006f663p-22, 0x1.a01a019ca530ap-16,
    -0x1.6c16c16c15104p-10, 0x1.555555555554bp-5};
inline constexpr Polynomial kCos{kCos32, kCos64};

/// (asin x - x) / x^3, of x^2 where |x| <= 1/2.
inline constexpr double kAsin32[] = {
    0x1.33d1e0d39ef00p-5, 0x1.d7b94e0ad99dep-7, 0x1.04a9ae27d3ecfp-5, 0x1.6cabe3b66e775p-5,
    0x1.3338908e2eccbp-4, 0x1.55554c33e7a49p-3};
inline constexpr double kAsin64[] = {
    0x1.0be8506f92726p-5, -0x1.5a02723a939fbp-6, 0x1.650a0452acd88p-6, 0x1.e1424b6f0add7p-9,
    0x1.618c4ad25d3d9p-7, 0x1.75774991047e4p-7, 0x1.ca214c1fdffdfp-7, 0x1.1c49ddb1e5f87p-6,
    0x1.6e8bdfeada1c8p-6, 0x1.f1c71a8b76e6ep-6, 0x1.6db6db722bcb8p-5, 0x1.333333332df0cp-4,
    0x1.5555555555578p-3};
inline constexpr Polynomial kAsin{kAsin32, kAsin64};

/// (atan x - x) / x^3, of x^2 where |x| <= tan(pi / 8).
inline constexpr double kAtan32[] = {
    -0x1.f0738faf4b2aep-5, 0x1.b1a74ec6e571ap-4, -0x1.23b0e92e0b723p-3, 0x1.9991637020980p-3,
    -0x1.555548cd383bcp-2};
inline constexpr double kAtan64[] = {
    -0x1.232c9aa59222fp-6, 0x1.36d46d6446895p-5, -0x1.9c6f8400c8635p-5, 0x1.def9c1cbd0bfbp-5,
    -0x1.10ea46a485582p-4, 0x1.3b10f97921025p-4, -0x1.745cf722d011ap-4, 0x1.c71c70d736847p-4,
    -0x1.2492492288b62p-3, 0x1.99999999952cap-3, -0x1.555555555553bp-2};
inline constexpr Polynomial kAtan{kAtan32, kAtan64};

/// (2 atanh(s) / s - 2) / s^2, of s^2 where |s| <= 0.1717.
inline constexpr double kLog32[] = {
    0x1.31e85ed96d999p-2, 0x1.995e8e173e9eep-2, 0x1.55557a4565825p-1};
inline constexpr double kLog64[] = {
    0x1.2f10d836eff04p-3, 0x1.39a0a66a09b37p-3, 0x1.7466490449a67p-3, 0x1.c71c51db32660p-3,
    0x1.2492494225c57p-2, 0x1.999999997fa5ap-2, 0x1.5555555555593p-1};
inline constexpr Polynomial kLog{kLog32, kLog64};

/// (atanh(s) / s - 1 - s^2 / 3) / s^4, of s^2 where |s| <= 0.1717.
inline constexpr double kLogTail32[] = {
    0x1.dfa8fe52d5b94p-4, 0x1.2452591824795p-3, 0x1.999a00564dc6ep-3};
inline constexpr double kLogTail64[] = {
    0x1.eb274ff3fd66bp-5, 0x1.de30c93508202p-5, 0x1.1120c64f41500p-4, 0x1.3b13624778ef2p-4,
    0x1.745d1833efabdp-4, 0x1.c71c71c57d11bp-4, 0x1.2492492493050p-3, 0x1.9999999999996p-3};
inline constexpr Polynomial kLogTail{kLogTail32, kLogTail64};

/// erf(x) / x - 1, of x^2 where |x| <= 1.
inline constexpr double kErf32[] = {
    -0x1.44891debc6a24p-17, 0x1.d89bee0e5e832p-14, -0x1.bcd358035186dp-11, 0x1.562abfc18292dp-8,
    -0x1.b829d1ad9512dp-6, 0x1.ce2f09682b2adp-4, -0x1.812746673dbc9p-2, 0x1.06eba8202cf76p-3};
inline constexpr double kErf64[] = {
    0x1.05ea95e13358fp-34, -0x1.38964aa0e7f33p-30, 0x1.f7b2c20b1deebp-27, -0x1.5f1ea309431b1p-23,
    0x1.b9df1e618bbcdp-20, -0x1.f4d1e2db85694p-17, 0x1.f9a321d380143p-14, -0x1.c02db3dab9311p-11,
    0x1.565bcd0dba96bp-8, -0x1.b82ce31284e0fp-6, 0x1.ce2f21a042b30p-4, -0x1.812746b0379e6p-2,
    0x1.06eba8214db69p-3};
inline constexpr Polynomial kErf{kErf32, kErf64};

/// erfc(x) e^(x^2), of 1 / (1 + x / 2) where 1 <= x.
inline constexpr double kErfc32[] = {
    -0x1.d5abaf05dd6d6p-3, 0x1.43cac3bb06aeep-1, -0x1.e77da82ae9161p-5, 0x1.93659fc8d3a07p-2,
    0x1.0ac6a120526eep-2, 0x1.c5066262a41f6p-10};
inline constexpr double kErfc64[] = {
    -0x1.97175ac97c846p-6, 0x1.cf4b0bf964643p-4, -0x1.17e60da73fb80p-3, -0x1.96e956c654677p-3,
    0x1.90ffffc8145d6p-1, -0x1.eb1c8ec9ef23bp-1, 0x1.28bb28d397315p-1, -0x1.3e4cde40229f4p-2,
    0x1.82f1738b68114p-3, 0x1.3410b8cd6e82ep-3, 0x1.01587f94a32eap-2, 0x1.20554b3dcfef8p-2,
    0x1.20e6f502f8515p-2, -0x1.351109ca30f18p-20};
inline constexpr Polynomial kErfc{kErfc32, kErfc64};

/// ln(2).
inline constexpr Constant kLn2{{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111}};
/// log2(e).
inline constexpr Constant kLog2e{{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, -0x1.60bb8a5442ab9p-110}};
/// log10(e).
inline constexpr Constant kLog10e{{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.ee191f71a3012p-112}};
/// pi / 2.
inline constexpr Constant kHalfPi{{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}};
/// 2 / pi.
inline constexpr Constant kTwoOverPi{{0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55, -0x1.6447e493ad4cep-109}};
/// 1 / 3.
inline constexpr Constant kThird{{0x1.5555555555555p-2, 0x1.5555555555555p-56, 0x1.5555555555555p-110}};

/// The bits of 2 / pi behind the point, after 64 zeros.
inline constexpr uint64_t kBitsOfTwoOverPi[] = {
    0x0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x6492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
// clang-format on

} // namespace tilewright::kernelmath

#endif
