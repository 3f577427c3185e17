#pragma once

#include <map>
#include <string>

namespace warpath {

/// `source` with what its names say written out where nothing in the text declares them: in the
/// place of `ScalarConvert<From, To>::to(x)`, and of all that is called "...Convert" or "...Cast",
/// the casts; in that of `CeilDiv(a, b)`, "...DivUp", the quotient; of `...Numerics<T>::exp(x)` the
/// function; of `gpuAtomicAdd` the atomic; of `WARP_SHFL` and `__shfl` the
/// shuffle of a whole warp; of `at::Half` and `at::BFloat16` CUDA's types. Each
/// stands behind its replacement_mark(). `replaced` gets what stands for each name.
[[nodiscard]] std::string with_foreign_names(const std::string& source,
                                             std::map<std::string, std::string>& replaced);

/// The comment that says in the text which name stood there.
[[nodiscard]] std::string replacement_mark(const std::string& name);

}  // namespace warpath
