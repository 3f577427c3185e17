#include "runners/cuda/compile/compile_service.h"

#include <algorithm>
#include <chrono>

#include "engine/base/error.h"
#include "engine/text/one_kernel.h"
#include "runners/cuda/compile/headers.h"
#include "runners/cuda/compile/nvcc.h"
#include "runners/cuda/compile/nvrtc_places.h"
#include "runners/cuda/compile/ptxas.h"
#include "runners/cuda/compile/triton.h"
#include "runners/cuda/options.h"
#include "runners/inputs/arguments.h"

namespace warpath::cuda {
namespace {

CodePtr stopped() {
  auto result = std::make_shared<CompileResult>();
  result->log = "stopped";
  return result;
}

std::uint64_t bytes_of(const CompileResult& result) {
  return result.ptx.size() + result.cubin.size() + result.log.size() + sizeof(CompileResult);
}

/// No name in `source` is put together by the preprocessor, so that a search for it as text finds
/// every use.
bool spells_names_out(std::string_view source) {
  constexpr std::string_view kJoining[] = {"##", "%:", "\\\n", "\\\r", "\\ ", "\\\t", "??"};
  return std::ranges::none_of(
      kJoining, [&](std::string_view text) { return source.find(text) != std::string_view::npos; });
}

/// Removes from `texts` the names that neither the source nor an option uses: a tunable that only
/// changes the launch plan must not cause another compilation.
void drop_unused(const CompileRequest& request, const SplitOptions& split, MacroTexts& texts) {
  std::string mentioned = request.source + "\n" + request.kernel;
  for (const auto& [name, text] : split.macros) mentioned += "\n" + text;
  for (const auto& [name, text] : texts) mentioned += "\n" + text;
  std::erase_if(
      texts, [&](const auto& macro) { return mentioned.find(macro.first) == std::string::npos; });
}

/// The name of what compiles it; empty: NVRTC.
std::string other_compiler_of(const CompileRequest& request) {
  if (request.language == KernelType::triton) return "triton";
  if (request.language == KernelType::ptx) return "ptxas";
  return request.compiler == DeviceCompiler::nvcc ? "nvcc" : "";
}

/// Whatever the kernel is written in, a kernel that is its reference is CUDA C++.
KernelType language_of(const KernelSpec& spec, const Variant& variant) {
  const auto* const reference = std::get_if<ReferenceKernel>(&spec.reference);
  return reference != nullptr && variant.source == reference->source ? KernelType::cuda
                                                                     : spec.kernel_type;
}

/// As Triton's own launcher: it may rely on addresses and integers that are multiples of 16.
void add_triton_parameters(const KernelSpec& spec,
                           const Variant& variant,
                           const Workload& workload,
                           CompileRequest& request) {
  constexpr std::int64_t kMultiple = 16;
  for (const ArgSpec* const arg : kernel_arguments(spec)) {
    const DType dtype = arg->tensor                     ? arg->tensor->dtype
                        : arg->type == ArgType::boolean ? DType::boolean
                                                        : arg->dtype;
    std::string type = triton_type(dtype);
    bool multiple = false;
    if (arg->tensor) {
      type = "*" + type;
      multiple = spec.tensor_of(*arg, workload).alignment_bytes % kMultiple == 0;
    } else if (const auto value = scalar_value(*arg, workload)) {
      const auto* const integer = std::get_if<std::int64_t>(&*value);
      multiple = integer != nullptr && *integer % kMultiple == 0;
    }
    request.parameters.push_back(type + (multiple ? ":16" : ""));
  }
  const LaunchNumbers numbers =
      evaluate(launch_for(spec, variant, workload), spec.bindings(workload, variant.tunables),
               "launch of workload " + workload.name);
  request.threads_per_block = numbers.block[0] * numbers.block[1] * numbers.block[2];
}

/// Version and headers: a kernel that failed for want of a header must be tried again once it is
/// there.
std::string identity(const Nvrtc& nvrtc, const std::vector<Header>& headers) {
  Hasher hasher;
  for (const Header& header : headers) hasher.add(header.name).add(header.text);
  return nvrtc.version() + " " + hasher.digest().hex();
}

}  // namespace

CompileServiceOptions service_options(const CudaOptions& options,
                                      std::string program,
                                      int devices) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  CompileServiceOptions out;
  out.program = std::move(program);
  out.workers =
      options.compile_workers > 0 ? options.compile_workers : std::max(1, cores - devices);
  out.nvcc = options.nvcc;
  out.python = options.python;
  out.limits.seconds = options.compile_seconds;
  out.limits.memory_bytes = static_cast<std::uint64_t>(options.compile_memory_mib) << 20U;
  out.cache_bytes = static_cast<std::uint64_t>(options.cache_mib) << 20U;
  if (out.cache_bytes > 0) out.cache_folder = default_cache_folder("code");
  return out;
}

CompileRequest request_for(const KernelSpec& spec,
                           const Variant& variant,
                           const Workload& workload,
                           const std::string& arch) {
  SplitOptions split = split_options(variant.compiler_options);
  const KernelType language = language_of(spec, variant);
  MacroTexts texts = workload_macros(spec, workload, variant.tunables);
  std::vector<std::string> kernels{variant.kernel_name};
  for (std::string& name : step_kernels(variant)) kernels.push_back(std::move(name));
  CompileRequest request{.source = language == KernelType::cuda
                                       ? without_other_kernels(variant.source, kernels)
                                       : variant.source,
                         .kernel = variant.kernel_name,
                         .arch = arch,
                         .options = std::move(split.others),
                         .compiler = spec.compiler,
                         .language = language};
  if (language == KernelType::triton) add_triton_parameters(spec, variant, workload, request);
  if (spec.system_headers != nullptr) {
    if (spec.system_headers->files.empty())
      throw bad_input(spec.place("/kernel/headers_key"), spec.system_headers->key,
                      "headers of libraries that were read");
    for (const SystemHeader& header : spec.system_headers->files)
      request.headers.push_back({header.name, header.text});
  }
  if (spec.system_headers == nullptr && language != KernelType::triton &&
      spells_names_out(variant.source))
    drop_unused(request, split, texts);
  for (auto& [name, text] : split.macros) texts[name] = std::move(text);
  for (const auto& [name, text] : texts) request.options.push_back("-D" + name + "=" + text);
  return request;
}

CompileService::CompileService(CompileServiceOptions options) : options_(std::move(options)) {
  std::string why;
  const auto nvrtc = open_nvrtc(why);
  if (!nvrtc) throw environment_error("NVRTC cannot be used: " + why);
  nvrtc_path_ = nvrtc->path();
  nvrtc_version_ = nvrtc->version();
  headers_ = load_headers(include_folders(nvrtc_path_));
  compiler_identity_ = identity(*nvrtc, headers_);
  if (!options_.cache_folder || options_.cache_bytes == 0) return;
  try {
    disk_ = std::make_unique<CodeCache>(*options_.cache_folder, options_.cache_bytes);
  } catch (const Error& error) {
    cache_problem_ = error.what();
  }
}

CompileService::~CompileService() {
  if (!collector_.joinable()) return;
  collector_.request_stop();
  collector_.join();  // before the pool goes
}

CodePtr CompileService::compile(const CompileRequest& request, const std::stop_token& stop) {
  return await(begin(request), stop);
}

CompiledVariant CompileService::compile(const KernelSpec& spec,
                                        const Variant& variant,
                                        std::span<const Workload* const> workloads,
                                        const std::string& arch,
                                        const std::stop_token& stop) {
  CompiledVariant out;
  std::vector<std::pair<const Variant*, std::vector<std::string>>> distinct;
  std::vector<FlightPtr> flights;
  const std::uint64_t compiled_from = [&] {
    const std::lock_guard lock(mutex_);
    return next_id_;
  }();
  for (const Workload* const workload : workloads) {
    const Variant& kernel = version_for(spec, variant, *workload);
    const CompileRequest request = request_for(spec, kernel, *workload, arch);
    std::vector<std::string> given = request.options;
    given.insert(given.end(), request.parameters.begin(), request.parameters.end());
    given.push_back(std::to_string(request.threads_per_block));
    const auto known = std::ranges::find(distinct, std::pair(&kernel, given));
    out.code_of.push_back(static_cast<std::size_t>(known - distinct.begin()));
    if (known != distinct.end()) continue;
    distinct.emplace_back(&kernel, std::move(given));
    flights.push_back(begin(request));
  }
  for (const FlightPtr& flight : flights) {
    const CodePtr code = await(flight, stop);
    if (flight->id > compiled_from) out.seconds += code->seconds;
    if (out.status == Status::ok && code->status != Status::ok) {
      out.status = code->status;
      out.log = code->log;
    }
    out.codes.push_back(code);
  }
  return out;
}

/// Null for NVRTC. Throws Error(environment) if another is asked for and cannot be used.
const OtherCompiler* CompileService::compiler_of(const CompileRequest& request) {
  const std::string name = other_compiler_of(request);
  if (name.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& other = others_[name];
  if (other == nullptr) {
    if (name == "nvcc") other = std::make_unique<const Nvcc>(options_.nvcc);
    if (name == "ptxas") other = std::make_unique<const Ptxas>();
    if (name == "triton") other = std::make_unique<const Triton>(options_.python);
  }
  return other.get();
}

/// A flight of `request`: already landed if the result is known, otherwise under way.
CompileService::FlightPtr CompileService::begin(const CompileRequest& request) {
  const OtherCompiler* const other = compiler_of(request);
  auto flight = std::make_shared<Flight>();
  flight->key = code_key(request, other == nullptr ? compiler_identity_ : other->identity());
  {
    const std::lock_guard lock(mutex_);
    ++counts_.requests;
    if (const auto recent = recent_of_.find(flight->key); recent != recent_of_.end()) {
      ++counts_.memory_hits;
      recent_.splice(recent_.begin(), recent_, recent->second);
      flight->result = recent_.front().second;
      return flight;
    }
    if (const auto under_way = flights_.find(flight->key); under_way != flights_.end()) {
      ++counts_.joined;
      return under_way->second;
    }
    flights_.emplace(flight->key, flight);
  }
  if (disk_ != nullptr) {
    if (auto found = disk_->find(flight->key)) {
      {
        const std::lock_guard lock(mutex_);
        ++counts_.disk_hits;
      }
      land(flight, std::make_shared<const CompileResult>(std::move(*found)));
      return flight;
    }
  }
  submit(flight, request, other);
  return flight;
}

void CompileService::submit(const FlightPtr& flight,
                            const CompileRequest& request,
                            const OtherCompiler* other) {
  const std::lock_guard lock(mutex_);
  try {
    start_pool();
  } catch (const Error&) {
    flights_.erase(flight->key);
    flight->result = stopped();  // for those who joined; the next request tries again
    landed_.notify_all();
    throw;
  }
  flight->id = ++next_id_;
  submitted_.emplace(flight->id, flight);
  pool_->submit(flight->id, request, other);
}

/// Called with the lock held.
void CompileService::start_pool() {
  if (pool_ != nullptr) return;
  pool_ = std::make_unique<CompilePool>(
      CompilePoolOptions{.worker_argv = {options_.program, "worker", "compile"},
                         .setup = {nvrtc_path_, headers_, options_.limits},
                         .workers = options_.workers});
  collector_ = std::jthread([this](const std::stop_token& ending) { collect(ending); });
}

CodePtr CompileService::await(const FlightPtr& flight, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!landed_.wait(lock, stop, [&] { return flight->result != nullptr; })) return stopped();
  if (flight->failed_pool)
    throw environment_error("kernels cannot be compiled: " + pool_->problem());
  return flight->result;
}

void CompileService::land(const FlightPtr& flight, CodePtr result) {
  {
    const std::lock_guard lock(mutex_);
    const bool lasting = result->status == Status::ok || result->status == Status::compile_error;
    if (lasting) remember(flight->key, result);
    flight->result = std::move(result);
    flights_.erase(flight->key);
  }
  landed_.notify_all();
}

/// Called with the lock held.
void CompileService::remember(const Hash128& key, const CodePtr& result) {
  recent_.emplace_front(key, result);
  recent_of_[key] = recent_.begin();
  recent_bytes_ += bytes_of(*result);
  while (recent_bytes_ > options_.memory_bytes && recent_.size() > 1) {
    recent_bytes_ -= bytes_of(*recent_.back().second);
    recent_of_.erase(recent_.back().first);
    recent_.pop_back();
  }
}

/// Delivers results of the pool to waiters, then stores them.
void CompileService::collect(const std::stop_token& ending) {
  while (!ending.stop_requested()) {
    auto done = pool_->wait(std::chrono::milliseconds(50));
    if (!done) continue;
    FlightPtr flight;
    {
      const std::lock_guard lock(mutex_);
      const auto found = submitted_.find(done->id);
      flight = found->second;
      submitted_.erase(found);
      ++counts_.compiled;
      counts_.compile_seconds += done->result.seconds;
      flight->failed_pool = done->result.status == Status::crashed && !pool_->problem().empty();
    }
    const auto result = std::make_shared<const CompileResult>(std::move(done->result));
    land(flight, result);
    if (disk_ != nullptr) disk_->store(flight->key, *result);
  }
}

CompileServiceCounts CompileService::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace warpath::cuda
