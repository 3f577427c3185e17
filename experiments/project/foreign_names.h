#pragma once

#include <map>
#include <string>

namespace warpath {

/// `source` with what its names say written out where nothing in the text declares them, each
/// behind its replacement_mark():
/// - the casts of `ScalarConvert<From, To>::to(x)` and of all that is called "...Convert",
/// "...Cast";
/// - the quotient of `CeilDiv(a, b)`, "...DivUp";
/// - the function, operator or limit of `...Numerics<T>::exp(x)`, `div(a, b)`, `max()`;
/// - the atomic of `gpuAtomicAdd`, the shuffle of a whole warp of `WARP_SHFL` and `__shfl`;
/// - a class with the function of `thrust::plus<T>`, minus, multiplies, maximum, minimum;
/// - CUDA's types of `at::Half` and `at::BFloat16`, unless `has_headers`: those of a library may
///   declare them.
/// `replaced` gets what stands for each name.
[[nodiscard]] std::string with_foreign_names(const std::string& source,
                                             std::map<std::string, std::string>& replaced,
                                             bool has_headers = false);

/// The comment that says in the text which name stood there.
[[nodiscard]] std::string replacement_mark(const std::string& name);

}  // namespace warpath
