#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "experiments/console/command.h"
#include "experiments/ship/shipment.h"

namespace warpath {

/// One compiled form of a kernel.
struct MachineCode {
  std::string architecture;  ///< "sm_90a"
  bool is_ptx = false;
  std::string bytes;
};

/// A kernel for several architectures.
struct CompiledKernel {
  std::vector<MachineCode> codes;  ///< in the order in which a device should try them
  std::vector<std::string> names;  ///< in the code, of ShippedKernel::kernels
  /// Shared memory that the compiler laid out itself, beyond the launch plan's: the most of all
  /// architectures.
  std::int64_t dynamic_smem_bytes = 0;
};

struct CompiledShipment {
  std::vector<CompiledKernel> kernels;  ///< in the order of Shipment::kernels()
  /// Kernels of the shipment by name with an architecture that their contract excludes.
  std::vector<std::pair<std::string, std::string>> excluded;
};

/// The architectures of `--arch` ("sm_90a,sm_80", "none"); without the flag that of the run's
/// device, or the least that all kernels can run on, from sm_80 on. Throws Error(bad_input).
[[nodiscard]] std::vector<std::string> chosen_architectures(const Arguments& arguments,
                                                            const Shipment& shipment);

/// Compiles the kernels by what compiled them in the run, with the text and options that were
/// measured. No architectures: no code, and no compiler is needed. The original in Triton is
/// compiled for any values of its arguments. Throws Error(environment) without the compiler,
/// Error(bad_input) if a
/// kernel does not compile for an architecture; those that a kernel's contract excludes are left
/// out for it.
[[nodiscard]] CompiledShipment compile_shipment(const Shipment& shipment,
                                                const std::vector<std::string>& architectures,
                                                const Program& program);

/// The tables of NAME_images.c.
[[nodiscard]] std::string image_tables(const Shipment& shipment, const CompiledShipment& compiled);

/// Options that make nvcc compile machine code and PTX for the architectures.
[[nodiscard]] std::string gencode_options(const CompiledKernel& kernel);
/// The same for CMake's CUDA_ARCHITECTURES: "80;90a".
[[nodiscard]] std::string cmake_architectures(const CompiledKernel& kernel);

}  // namespace warpath
