#ifndef TILEWRIGHT_GRAPH_ELEMENTWISE
#define TILEWRIGHT_GRAPH_ELEMENTWISE

include "dialects/Graph/GraphBase.td"

def Graph_AbsOp : Graph_UnaryOp<"abs", "the absolute value", Graph_AnyTensor>;
def Graph_NegOp : Graph_UnaryOp<"neg", "the negative", Graph_AnyTensor>;
def Graph_SignOp : Graph_UnaryOp<"sign", "-1, 0 or 1", Graph_AnyTensor>;
def Graph_NotOp : Graph_UnaryOp<"not", "of bools the negation, of integers all bits inverted", Graph_IntegerTensor>;
def Graph_FloorOp : Graph_UnaryOp<"floor", "rounded down">;
def Graph_CeilOp : Graph_UnaryOp<"ceil", "rounded up">;
def Graph_RoundOp : Graph_UnaryOp<"round", "rounded to the nearest integer, halves to the even one">;
def Graph_TruncOp : Graph_UnaryOp<"trunc", "rounded towards zero">;
def Graph_SqrtOp : Graph_UnaryOp<"sqrt", "the square root">;
def Graph_RsqrtOp : Graph_UnaryOp<"rsqrt", "1 over the square root">;
def Graph_ReciprocalOp : Graph_UnaryOp<"reciprocal", "1 over it">;
def Graph_ExpOp : Graph_UnaryOp<"exp", "e to the power of it">, DefaultBuilders;
def Graph_LogOp : Graph_UnaryOp<"log", "the natural logarithm">;
def Graph_Log1pOp : Graph_UnaryOp<"log1p", "the natural logarithm of 1 + x">;
def Graph_SinOp : Graph_UnaryOp<"sin", "the sine">;
def Graph_CosOp : Graph_UnaryOp<"cos", "the cosine">;
def Graph_TanOp : Graph_UnaryOp<"tan", "the tangent">;
def Graph_AsinOp : Graph_UnaryOp<"asin", "the inverse sine">;
def Graph_AcosOp : Graph_UnaryOp<"acos", "the inverse cosine">;
def Graph_AtanOp : Graph_UnaryOp<"atan", "the inverse tangent">;
def Graph_SinhOp : Graph_UnaryOp<"sinh", "the hyperbolic sine">;
def Graph_CoshOp : Graph_UnaryOp<"cosh", "the hyperbolic cosine">;
def Graph_TanhOp : Graph_UnaryOp<"tanh", "the hyperbolic tangent">;
def Graph_AsinhOp : Graph_UnaryOp<"asinh", "the inverse hyperbolic sine">;
def Graph_AcoshOp : Graph_UnaryOp<"acosh", "the inverse hyperbolic cosine">;
def Graph_AtanhOp : Graph_UnaryOp<"atanh", "the inverse hyperbolic tangent">;
def Graph_ErfOp : Graph_UnaryOp<"erf", "the error function">;
def Graph_SigmoidOp : Graph_UnaryOp<"sigmoid", "1 / (1 + exp(-x))">;
def Graph_ReluOp : Graph_UnaryOp<"relu", "the larger of it and 0", Graph_AnyTensor>;

def Graph_AddOp : Graph_BinaryOp<"add", "a + b">, DefaultBuilders { let hasFolder = 1; }
def Graph_SubOp : Graph_BinaryOp<"sub", "a - b">, DefaultBuilders { let hasFolder = 1; }
def Graph_MulOp : Graph_BinaryOp<"mul", "a * b">, DefaultBuilders { let hasFolder = 1; }
def Graph_DivOp : Graph_BinaryOp<"div", "a / b, of integers rounded towards zero">, DefaultBuilders { let hasFolder = 1; }
def Graph_PowOp : Graph_BinaryOp<"pow", "a to the power of b">;
def Graph_ModOp : Graph_BinaryOp<"mod", "what the division rounded down leaves, of the sign of b">, DefaultBuilders;
def Graph_FmodOp : Graph_BinaryOp<"fmod", "what the division rounded towards zero leaves, of the sign of a">;
def Graph_MinOp : Graph_BinaryOp<"min", "the smaller one, NaN where one is">;
def Graph_MaxOp : Graph_BinaryOp<"max", "the larger one, NaN where one is">;
def Graph_Atan2Op : Graph_BinaryOp<"atan2", "the angle of the point (b, a)", Graph_FloatTensor>;
def Graph_AndOp : Graph_BinaryOp<"and", "a and b, bit by bit", Graph_IntegerTensor>;
def Graph_OrOp : Graph_BinaryOp<"or", "a or b, bit by bit", Graph_IntegerTensor>;
def Graph_XorOp : Graph_BinaryOp<"xor", "a or b and not both, bit by bit", Graph_IntegerTensor>;
def Graph_ShiftLeftOp : Graph_BinaryOp<"shift_left", "a * 2^b, the low bits of it", Graph_IntegerTensor>;
def Graph_ShiftRightOp : Graph_BinaryOp<"shift_right", "a // 2^b", Graph_IntegerTensor>;

def Graph_EqualOp : Graph_BinaryOp<"equal", "whether a = b", Graph_AnyTensor, Graph_BoolTensor>;
def Graph_NotEqualOp : Graph_BinaryOp<"not_equal", "whether a is not b", Graph_AnyTensor, Graph_BoolTensor>;
def Graph_LessOp : Graph_BinaryOp<"less", "whether a < b", Graph_AnyTensor, Graph_BoolTensor>;
def Graph_LessEqualOp : Graph_BinaryOp<"less_equal", "whether a <= b", Graph_AnyTensor, Graph_BoolTensor>;
def Graph_GreaterOp : Graph_BinaryOp<"greater", "whether a > b", Graph_AnyTensor, Graph_BoolTensor>;
def Graph_GreaterEqualOp : Graph_BinaryOp<"greater_equal", "whether a >= b", Graph_AnyTensor, Graph_BoolTensor>;

def Graph_IsnanOp : Graph_PlainOp<"isnan", "whether it is NaN", [Graph_BroadcastElementwise, SameOperandsAndResultShape]> {
  let arguments = (ins Graph_FloatTensor:$x);
}
def Graph_IsinfOp : Graph_PlainOp<"isinf", "whether it is infinite", [Graph_BroadcastElementwise, SameOperandsAndResultShape]> {
  let arguments = (ins Graph_FloatTensor:$x, BoolAttr:$positive, BoolAttr:$negative);
}
def Graph_CastOp : Graph_PlainOp<"cast", "in another element type", [
    Graph_BroadcastElementwise, Graph_MovesElements, SameOperandsAndResultShape]>, DefaultBuilders {
  let description = [{
    Floats to integers are rounded towards zero. With `saturate` a float beyond a float8 type is the type's largest
    number, without it is NaN or infinite. `to` is NumPy's name of the type.
  }];
  let arguments = (ins Graph_AnyTensor:$x, StrAttr:$to, BoolAttr:$saturate);
  let hasFolder = 1;
}
def Graph_BitcastOp : Graph_PlainOp<"bitcast", "the same bits in an element type of the same width", [
    Graph_BroadcastElementwise, SameOperandsAndResultShape]> {
  let arguments = (ins Graph_AnyTensor:$x, StrAttr:$to);
}
def Graph_WhereOp : Graph_PlainOp<"where", "a where the condition is true, otherwise b; all three are broadcast", [
    Graph_BroadcastElementwise]> {
  let arguments = (ins Graph_BoolTensor:$condition, Graph_AnyTensor:$a, Graph_AnyTensor:$b);
  let hasVerifier = 1;
}

#endif
