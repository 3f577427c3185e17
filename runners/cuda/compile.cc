#include "runners/cuda/compile.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "runners/cuda/compile_options.h"
#include "runners/wire.h"

namespace warpath::cuda {
namespace {

template <class Visitor>
void for_each_line(std::string_view text, Visitor&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The integer just before `label` in `line` ("32" for "Used 32 registers" and " registers").
std::optional<std::int64_t> number_before(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data() + begin, line.data() + at, value);
  if (error != std::errc{} || end != line.data() + at) return std::nullopt;
  return value;
}

/// The name between the first pair of quotes; empty if there is none.
std::string_view quoted(std::string_view line) {
  const std::size_t begin = line.find('\'');
  if (begin == std::string_view::npos) return {};
  const std::size_t end = line.find('\'', begin + 1);
  return end == std::string_view::npos ? std::string_view{} : line.substr(begin + 1, end - begin - 1);
}

CompileResult failed(Status status, std::string log) {
  CompileResult result;
  result.status = status;
  result.log = std::move(log);
  return result;
}

}  // namespace

std::string filter_log(std::string_view log) {
  std::string kept;
  const std::string prefix = std::string(kSourceName) + "(";
  bool cut = false;
  for_each_line(log, [&](std::string_view line) {
    const bool assembler = line.starts_with("ptxas") && line.find("error") != std::string_view::npos;
    if (cut || (!assembler && !line.starts_with(prefix))) return;
    if (kept.size() + line.size() + 1 > kMaxLogBytes - 4) {
      kept += "...\n";
      cut = true;
      return;
    }
    for (const char c : line) kept += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
    kept += '\n';
  });
  return kept;
}

ResourceUsage parse_ptxas_info(std::string_view log, std::string_view entry) {
  ResourceUsage usage;
  bool inside = false;
  for_each_line(log, [&](std::string_view line) {
    if (!line.starts_with("ptxas")) return;
    if (line.find("Compiling entry function") != std::string_view::npos) {
      inside = quoted(line) == entry;
      return;
    }
    if (line.find("Function properties for ") != std::string_view::npos) {
      inside = line.ends_with(std::string("Function properties for ") + std::string(entry));
      return;
    }
    if (!inside) return;
    const auto take = [&](std::string_view label, auto& field) {
      if (const auto value = number_before(line, label)) field = static_cast<std::decay_t<decltype(field)>>(*value);
    };
    take(" bytes stack frame", usage.stack_bytes);
    take(" bytes spill stores", usage.spill_store_bytes);
    take(" bytes spill loads", usage.spill_load_bytes);
    take(" registers", usage.registers);
    take(" barriers", usage.barriers);
    take(" bytes smem", usage.static_smem_bytes);
    take(" bytes cumulative stack size", usage.stack_bytes);
    take(" bytes cmem[0]", usage.constant_bytes);
  });
  return usage;
}

CompileResult compile(const Nvrtc& nvrtc, const std::vector<Header>& headers, const CompileRequest& request,
                      const CompileLimits& limits) {
  if (request.source.size() > kMaxSourceBytes) return failed(Status::limits_exceeded, "the source exceeds 4 MiB");
  if (const std::string problem = compile_problem(request); !problem.empty()) {
    return failed(Status::compile_error, problem);
  }
  const std::vector<std::string> options = nvrtc_options(request, nvrtc.major());
  const auto start = std::chrono::steady_clock::now();
  NvrtcOutput output = nvrtc.compile({request.source, headers, options, request.kernel});
  CompileResult result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.log = filter_log(output.log);
  if (output.out_of_memory || output.log.find("catastrophic error: out of memory") != std::string::npos) {
    result.status = Status::limits_exceeded;
    result.log += "the compiler ran out of memory\n";
  } else if (!output.compiled || output.cubin.empty()) {
    result.status = Status::compile_error;
    if (result.log.empty()) result.log = "the compiler gives no reason within the kernel's own text\n";
  } else if (output.ptx.size() + output.cubin.size() > limits.output_bytes) {
    result.status = Status::limits_exceeded;
    result.log += "the compiled code exceeds " + std::to_string(limits.output_bytes) + " bytes\n";
  } else {
    result.status = Status::ok;
    result.usage = parse_ptxas_info(output.log, output.lowered_name);
    result.ptx = std::move(output.ptx);
    result.cubin = std::move(output.cubin);
    result.lowered_name = std::move(output.lowered_name);
  }
  return result;
}

std::string encode(const CompileRequest& request) {
  return WireWriter().text(request.source).text(request.kernel).text(request.arch).texts(request.options).bytes();
}

bool decode(std::string_view message, CompileRequest& request) {
  WireReader reader(message);
  request.source = reader.text();
  request.kernel = reader.text();
  request.arch = reader.text();
  request.options = reader.texts();
  return reader.complete();
}

std::string encode(const CompileResult& result) {
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const ResourceUsage& usage = result.usage;
  return WireWriter()
      .u8(static_cast<std::uint8_t>(result.status))
      .text(result.log)
      .text(result.ptx)
      .text(result.cubin)
      .text(result.lowered_name)
      .f64(result.seconds)
      .u64(size(usage.registers))
      .u64(size(usage.static_smem_bytes))
      .u64(size(usage.stack_bytes))
      .u64(size(usage.spill_store_bytes))
      .u64(size(usage.spill_load_bytes))
      .u64(size(usage.constant_bytes))
      .u64(size(usage.barriers))
      .bytes();
}

bool decode(std::string_view message, CompileResult& result) {
  WireReader reader(message);
  const std::uint8_t status = reader.u8();
  if (status >= kStatusNames.size()) return false;
  result.status = static_cast<Status>(status);
  result.log = reader.text();
  result.ptx = reader.text();
  result.cubin = reader.text();
  result.lowered_name = reader.text();
  result.seconds = reader.f64();
  const auto size = [&reader] { return static_cast<std::int64_t>(reader.u64()); };
  ResourceUsage& usage = result.usage;
  usage.registers = static_cast<int>(size());
  usage.static_smem_bytes = size();
  usage.stack_bytes = size();
  usage.spill_store_bytes = size();
  usage.spill_load_bytes = size();
  usage.constant_bytes = size();
  usage.barriers = static_cast<int>(size());
  return reader.complete();
}

}  // namespace warpath::cuda
