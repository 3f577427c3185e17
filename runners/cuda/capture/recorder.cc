#include "runners/cuda/capture/recorder.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "runners/cuda/capture/images.h"

namespace warpath::capture {
namespace {

constexpr std::size_t kMostShapes = 4096;           // of one kernel
constexpr std::size_t kMostParameterBytes = 32764;  // that a kernel may have
constexpr std::uint64_t kMostContentBytes = 256 << 20;
constexpr double kCountSeconds = 0.05, kCountShare = 0.01;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string list(const std::array<std::uint32_t, 3>& numbers) {
  return "[" + std::to_string(numbers[0]) + "," + std::to_string(numbers[1]) + "," +
         std::to_string(numbers[2]) + "]";
}

/// "gather" names the kernel gather, and _ZN3app6gatherIfEEvPT_.
bool has_name(const std::string& symbol, const std::string& wanted) {
  return symbol == wanted ||
         (symbol.starts_with("_Z") &&
          symbol.find(std::to_string(wanted.size()) + wanted) != std::string::npos);
}

/// "a:0,b:2"
std::vector<std::pair<std::string, std::size_t>> wanted_contents(const std::string& text) {
  std::vector<std::pair<std::string, std::size_t>> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    const std::size_t colon = one.rfind(':');
    if (colon != std::string::npos)
      out.emplace_back(one.substr(0, colon), std::strtoul(one.c_str() + colon + 1, nullptr, 10));
    begin = end + 1;
  }
  return out;
}

}  // namespace

Recorder& Recorder::instance() {
  static Recorder& recorder = *new Recorder;  // see the declaration
  return recorder;
}

Recorder::Recorder()
    : log_(environment("WARPATH_CAPTURE")),
      wanted_(wanted_contents(environment("WARPATH_CAPTURE_CONTENTS"))),
      started_(now()) {
  ::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] {
                     instance().forget();
                     instance().mutex_.unlock();
                   });
}

void Recorder::forget() {
  log_.forget();
  allocations_.clear();
  times_.forget();
  images_.clear();
  names_.clear();
  by_handle_.clear();
  kernels_.clear();
  shapes_.clear();
  graph_launches_ = 0;
  driver_written_ = false;
}

void Recorder::image(const void* owner, const void* code) {
  const std::lock_guard lock(mutex_);
  const Image found = image_at(code);
  store_image(owner, found.bytes, found.kind);
}

void Recorder::image_file(const void* owner, const char* path) {
  const std::lock_guard lock(mutex_);
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Image found = text.empty() ? Image{} : image_at(text.c_str());
  store_image(owner, std::as_bytes(std::span(text)), found.kind);
}

void Recorder::store_image(const void* owner, std::span<const std::byte> bytes, const char* kind) {
  images_.erase(owner);
  if (bytes.empty() || !log_.open() || *kind == '\0') return;
  const std::string hash = content_hash(bytes);
  const bool known =
      std::ranges::any_of(images_, [&](const auto& one) { return one.second == hash; });
  images_[owner] = hash;
  if (known) return;
  const std::string name = "images/" + hash + "." + kind;
  if (!log_.store(name, bytes)) return;
  log_.write("{\"type\":\"image\",\"hash\":\"" + hash + "\",\"kind\":\"" + kind + "\",\"file\":\"" +
             name + "\",\"bytes\":" + std::to_string(bytes.size()) + "}");
}

void Recorder::named(const void* kernel, const void* owner, const char* name, bool is_kernel) {
  const std::lock_guard lock(mutex_);
  by_handle_.erase(kernel);
  names_[kernel] = {.name = name == nullptr ? "" : name, .owner = owner, .is_kernel = is_kernel};
}

void Recorder::same_kernel(const void* kernel, const void* function) {
  const std::lock_guard lock(mutex_);
  const auto known = names_.find(kernel);
  if (known == names_.end() || kernel == function) return;
  Named copy = known->second;
  copy.is_kernel = false;
  by_handle_.erase(function);
  names_[function] = std::move(copy);
}

void Recorder::same_image(const void* library, const void* module) {
  const std::lock_guard lock(mutex_);
  if (const auto known = images_.find(library); known != images_.end())
    images_[module] = std::string(known->second);
}

void Recorder::unloaded(const void* owner) {
  const std::lock_guard lock(mutex_);
  images_.erase(owner);
  std::erase_if(names_, [&](const auto& one) {
    if (one.second.owner == owner) by_handle_.erase(one.first);
    return one.second.owner == owner;
  });
}

void Recorder::allocated(std::uint64_t base, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  allocations_.add(base, bytes);
}

void Recorder::freed(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  allocations_.remove(base);
}

void Recorder::graph_launched() {
  const std::lock_guard lock(mutex_);
  ++graph_launches_;
  write_counts(false);
}

/// Where the driver has no such function the parameters stay unknown.
void Recorder::read_parameters(CUfunction function, bool is_kernel, Kernel& kernel) const {
  const auto of_function = WARPATH_DRIVER(cuFuncGetParamInfo);
  const auto of_kernel = WARPATH_DRIVER(cuKernelGetParamInfo);
  if (is_kernel ? of_kernel == nullptr : of_function == nullptr) return;
  for (std::size_t i = 0;; ++i) {
    Parameter one;
    const CUresult result =
        is_kernel ? of_kernel(reinterpret_cast<CUkernel>(function), i, &one.offset, &one.size)
                  : of_function(function, i, &one.offset, &one.size);
    if (result == CUDA_ERROR_INVALID_VALUE) break;
    if (result != CUDA_SUCCESS || one.offset + one.size > kMostParameterBytes) return;
    kernel.parameters.push_back(one);
  }
  kernel.parameters_known = true;
}

Recorder::Kernel& Recorder::kernel_of(CUfunction function) {
  if (const auto known = by_handle_.find(function); known != by_handle_.end())
    return *known->second;
  const auto found = names_.find(function);
  Named named = found == names_.end() ? Named{} : found->second;
  if (found == names_.end()) {
    const auto name_of = WARPATH_DRIVER(cuFuncGetName);
    const char* name = nullptr;
    if (name_of != nullptr && name_of(&name, function) == CUDA_SUCCESS && name != nullptr)
      named.name = name;
  }
  const auto image = images_.find(named.owner);
  const std::string hash = image == images_.end() ? "" : image->second;
  auto& slot = kernels_[named.name + "\n" + hash];
  if (slot == nullptr) {
    slot = std::make_unique<Kernel>();
    slot->id = static_cast<std::uint32_t>(kernels_.size() - 1);
    slot->name = named.name;
    read_parameters(function, named.is_kernel, *slot);
    std::string parameters;
    for (const Parameter& one : slot->parameters) {
      parameters += (parameters.empty() ? "[" : ",[") + std::to_string(one.offset) + "," +
                    std::to_string(one.size) + "]";
    }
    write_driver();
    log_.write("{\"type\":\"kernel\",\"kernel\":" + std::to_string(slot->id) +
               ",\"name\":" + quoted(slot->name) + ",\"image\":" + quoted(hash) +
               ",\"parameters\":" + (slot->parameters_known ? "[" + parameters + "]" : "null") +
               "}");
  }
  by_handle_[function] = slot.get();
  return *slot;
}

void Recorder::write_driver() {
  if (driver_written_) return;
  driver_written_ = true;
  const auto version_of = WARPATH_DRIVER(cuDriverGetVersion);
  const auto current = WARPATH_DRIVER(cuCtxGetDevice);
  const auto name_of = WARPATH_DRIVER(cuDeviceGetName);
  int version = 0;
  if (version_of != nullptr) static_cast<void>(version_of(&version));
  CUdevice device = 0;
  char name[256] = "";
  if (current != nullptr && name_of != nullptr && current(&device) == CUDA_SUCCESS)
    static_cast<void>(name_of(name, sizeof name, device));
  log_.write("{\"type\":\"driver\",\"version\":" + std::to_string(version) +
             ",\"device\":" + quoted(name) + "}");
}

std::vector<Recorder::Value> Recorder::values(const Kernel& kernel, const Launch& launch) const {
  const char* packed = nullptr;  // all parameters in one buffer
  std::size_t packed_bytes = 0;
  for (void** one = launch.extra; one != nullptr && *one != CU_LAUNCH_PARAM_END; one += 2) {
    if (*one == CU_LAUNCH_PARAM_BUFFER_POINTER) packed = static_cast<const char*>(one[1]);
    if (*one == CU_LAUNCH_PARAM_BUFFER_SIZE)
      packed_bytes = *static_cast<const std::size_t*>(one[1]);
  }
  std::vector<Value> out;
  if (!kernel.parameters_known) return out;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    const char* from = nullptr;
    if (launch.parameters != nullptr) {
      from = static_cast<const char*>(launch.parameters[i]);
    } else if (packed != nullptr && parameter.offset + parameter.size <= packed_bytes) {
      from = packed + parameter.offset;
    }
    Value value;
    if (from != nullptr) value.bytes.assign(from, parameter.size);
    for (std::size_t at = 0; at + sizeof(CUdeviceptr) <= value.bytes.size();
         at += sizeof(CUdeviceptr)) {
      std::uint64_t word = 0;
      std::memcpy(&word, value.bytes.data() + at, sizeof word);
      if (const auto place = allocations_.find(word)) value.pointers.push_back({at, *place});
    }
    out.push_back(std::move(value));
  }
  return out;
}

Ticket Recorder::before(const Launch& launch) {
  const std::lock_guard lock(mutex_);
  if (!log_.open()) return {};
  Kernel& kernel = kernel_of(launch.function);
  const std::vector<Value> given = values(kernel, launch);
  std::string content = list(launch.grid) + list(launch.block) + list(launch.cluster) +
                        std::to_string(launch.dynamic_smem_bytes);
  for (const Value& value : given) {
    std::string bytes = value.bytes;  // which buffer is passed makes no shape
    for (const Pointer& pointer : value.pointers)
      bytes.replace(pointer.at, sizeof(CUdeviceptr), sizeof(CUdeviceptr), '*');
    content += "," + bytes;
  }
  const bool others = kernel.shapes.size() >= kMostShapes && !kernel.shapes.contains(content);
  if (others) content.clear();
  const auto [slot, is_new] = kernel.shapes.try_emplace(content, 0);
  if (is_new) slot->second = new_shape(kernel, launch, given, others);
  const Ticket ticket{.shape = slot->second};
  const std::uint64_t number = ++shapes_[ticket.shape].begun;
  return {.shape = ticket.shape,
          .begun = LaunchTimes::is_sample(number) ? times_.begin(launch.stream) : nullptr};
}

std::uint32_t Recorder::new_shape(const Kernel& kernel,
                                  const Launch& launch,
                                  const std::vector<Value>& values,
                                  bool others) {
  const auto id = static_cast<std::uint32_t>(shapes_.size());
  shapes_.emplace_back();
  std::string line = "{\"type\":\"launch\",\"launch\":" + std::to_string(id) +
                     ",\"kernel\":" + std::to_string(kernel.id);
  if (others) {
    log_.write(line + ",\"others\":true}");
    return id;
  }
  line += ",\"grid\":" + list(launch.grid) + ",\"block\":" + list(launch.block) +
          ",\"cluster\":" + list(launch.cluster) +
          ",\"dynamic_smem_bytes\":" + std::to_string(launch.dynamic_smem_bytes) +
          ",\"parameters\":[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string pointers;
    for (const auto& [at, place] : values[i].pointers)
      pointers += (pointers.empty() ? "[" : ",[") + std::to_string(at) + "," +
                  std::to_string(place.allocation_bytes) + "," +
                  std::to_string(place.offset_bytes) + "]";
    const std::string file = contents(kernel, launch, values, i);
    line += (i == 0 ? "{\"bytes\":\"" : ",{\"bytes\":\"") +
            hex(std::as_bytes(std::span(values[i].bytes))) + "\"";
    if (!pointers.empty()) line += ",\"pointers\":[" + pointers + "]";
    if (!file.empty()) line += ",\"contents\":" + quoted(file);
    line += "}";
  }
  log_.write(line + "]}");
  return id;
}

/// The file with what a parameter points to, if that is asked for.
std::string Recorder::contents(const Kernel& kernel,
                               const Launch& launch,
                               const std::vector<Value>& values,
                               std::size_t parameter) {
  const bool asked = std::ranges::any_of(wanted_, [&](const auto& one) {
    return one.second == parameter && has_name(kernel.name, one.first);
  });
  const Value& value = values[parameter];
  if (!asked || value.pointers.empty() || value.pointers[0].at != 0 || is_capturing(launch.stream))
    return "";
  const auto plain = WARPATH_DRIVER(cuStreamSynchronize);
  const auto of_thread = WARPATH_DRIVER(cuStreamSynchronize_ptsz);
  const auto wait = launch.stream.of_thread && of_thread != nullptr ? of_thread : plain;
  const auto copy = WARPATH_DRIVER(cuMemcpyDtoH_v2);
  const Allocations::Place& place = value.pointers[0].place;
  const std::uint64_t bytes = place.allocation_bytes - place.offset_bytes;
  if (wait == nullptr || copy == nullptr || bytes > kMostContentBytes) return "";
  CUdeviceptr address = 0;
  std::memcpy(&address, value.bytes.data(), sizeof address);
  std::vector<std::byte> content(bytes);
  const RelaxedCapture relaxed;
  if (wait(launch.stream.handle) != CUDA_SUCCESS ||
      copy(content.data(), address, content.size()) != CUDA_SUCCESS)
    return "";
  const std::string name = "contents/" + content_hash(content) + ".bin";
  return log_.store(name, content) ? name : "";
}

void Recorder::after(const Ticket& ticket, const Launch& launch, bool success) {
  const std::lock_guard lock(mutex_);
  if (ticket.shape >= shapes_.size()) return;
  if (success) {
    ++shapes_[ticket.shape].launches;
    times_.end(ticket.begun, launch.stream, ticket.shape);
  } else {
    LaunchTimes::drop(ticket.begun);
  }
  write_counts(finished_);
}

void Recorder::collect() {
  const std::lock_guard lock(mutex_);
  times_.collect([this](std::uint32_t shape, double nanoseconds) {
    log_.write("{\"type\":\"time\",\"launch\":" + std::to_string(shape) +
               ",\"nanoseconds\":" + std::to_string(nanoseconds) + "}");
  });
}

void Recorder::write_counts(bool now_too) {
  const double time = now();
  if (!now_too && time - counted_ < std::max(kCountSeconds, kCountShare * (time - started_)))
    return;
  counted_ = time;
  std::string changed;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i].launches == shapes_[i].written) continue;
    shapes_[i].written = shapes_[i].launches;
    changed += (changed.empty() ? "[" : ",[") + std::to_string(i) + "," +
               std::to_string(shapes_[i].launches) + "]";
  }
  if (changed.empty() && graph_launches_ == 0) return;
  log_.write("{\"type\":\"counts\",\"counts\":[" + changed +
             "],\"graph_launches\":" + std::to_string(graph_launches_) + "}");
}

void Recorder::finish() {
  collect();
  const std::lock_guard lock(mutex_);
  finished_ = true;
  write_counts(true);
}

}  // namespace warpath::capture
