#include "runners/cuda/compile/compile.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/base/format.h"
#include "engine/base/stopwatch.h"
#include "engine/plugin/outcome_fields.h"
#include "engine/text/source_text.h"
#include "runners/cuda/compile/compile_options.h"
#include "runners/cuda/compile/header_fields.h"
#include "runners/cuda/compile/headers.h"
#include "runners/worker/wire.h"

namespace warpath {

template <>
struct Description<cuda::CompileRequest> : Unnamed<&cuda::CompileRequest::source,
                                                   &cuda::CompileRequest::kernel,
                                                   &cuda::CompileRequest::arch,
                                                   &cuda::CompileRequest::options,
                                                   &cuda::CompileRequest::headers> {};
template <>
struct Description<cuda::ResourceUsage> : Unnamed<&cuda::ResourceUsage::registers,
                                                  &cuda::ResourceUsage::static_smem_bytes,
                                                  &cuda::ResourceUsage::stack_bytes,
                                                  &cuda::ResourceUsage::spill_store_bytes,
                                                  &cuda::ResourceUsage::spill_load_bytes,
                                                  &cuda::ResourceUsage::constant_bytes,
                                                  &cuda::ResourceUsage::barriers> {};
template <>
struct Description<cuda::CompileResult> : Unnamed<&cuda::CompileResult::status,
                                                  &cuda::CompileResult::log,
                                                  &cuda::CompileResult::ptx,
                                                  &cuda::CompileResult::cubin,
                                                  &cuda::CompileResult::lowered_name,
                                                  &cuda::CompileResult::usage,
                                                  &cuda::CompileResult::seconds,
                                                  &cuda::CompileResult::dynamic_smem_bytes> {};

}  // namespace warpath

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
  return end == std::string_view::npos ? std::string_view{}
                                       : line.substr(begin + 1, end - begin - 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for_each_line(text, [&](std::string_view line) { lines.push_back(line); });
  return lines;
}

constexpr std::size_t kMaxErrors = 5;
constexpr std::size_t kMaxQuoted = 300;  // of a line

std::string printable(std::string_view line) {
  std::string out;
  for (const char c : line.substr(0, kMaxQuoted))
    out += static_cast<unsigned char>(c) < 0x20 ? (c == '\t' ? ' ' : '?') : c;
  return out + (line.size() > kMaxQuoted ? "..." : "");
}

/// "kernel.cu(12): error: ..." and "kernel.cu(3): catastrophic error: ...".
bool is_error(std::string_view line) {
  const std::size_t colon = line.find("): ");
  if (colon == std::string_view::npos) return false;
  const std::string_view kind = line.substr(colon + 3);
  return kind.starts_with("error") || kind.starts_with("catastrophic error") ||
         kind.starts_with("internal error");
}

/// Of "12): error: ..."; 0 if there is none.
std::size_t line_number(std::string_view text) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} ? out : 0;
}

/// `own` and those of `libraries` that it does not have: what stands for a header of the host also
/// does so within a library. Headers that only the toolkit's own include have names such as info.h,
/// which a library's may have too: that is then the library's.
std::vector<Header> with_own(const std::vector<Header>& libraries, const std::vector<Header>& own) {
  const auto allowed = allowed_includes();
  const auto has = [](const std::vector<Header>& headers, const std::string& name) {
    return std::ranges::find(headers, name, &Header::name) != headers.end();
  };
  std::vector<Header> all;
  for (const Header& header : own) {
    const bool is_named = std::ranges::find(allowed, header.name) != allowed.end();
    if (is_named || !has(libraries, header.name)) all.push_back(header);
  }
  for (const Header& header : libraries)
    if (!has(all, header.name)) all.push_back(header);
  return all;
}

/// The first error that the compiler reports in one of `headers`; empty if there is none.
std::string error_of_headers(std::string_view log, const std::vector<Header>& headers) {
  for (const std::string_view line : lines_of(log)) {
    const std::string_view file = line.substr(0, std::min(line.find('('), line.size()));
    if (is_error(line.substr(0, kMaxQuoted)) &&
        std::ranges::find(headers, file, &Header::name) != headers.end())
      return printable(line) + "\n";
  }
  return "";
}

}  // namespace

CompileResult failed_compile(Status status, std::string log) {
  CompileResult result;
  result.status = status;
  result.log = std::move(log);
  return result;
}

std::string filter_log(std::string_view log) {
  std::string kept;
  const std::string prefix = std::string(kSourceName) + "(";
  bool cut = false;
  for_each_line(log, [&](std::string_view line) {
    const bool assembler =
        line.starts_with("ptxas") && line.find("error") != std::string_view::npos;
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

std::string error_log(std::string_view log, std::string_view source) {
  const std::vector<std::string_view> lines = lines_of(log), text = lines_of(source);
  const std::string prefix = std::string(kSourceName) + "(";
  std::string kept;
  std::size_t errors = 0, left_out = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool own = line.starts_with(prefix) && is_error(line.substr(0, 200));
    const bool assembler =
        line.starts_with("ptxas") && line.find("error") != std::string_view::npos;
    const bool at_end = line.starts_with("At end of source: error");
    if (!own && !assembler && !at_end) continue;
    std::string entry = printable(line) + "\n";
    const std::size_t number = own ? line_number(line.substr(prefix.size())) : 0;
    if (number >= 1 && number <= text.size()) {
      const std::string_view quoted = trimmed(text[number - 1]);
      entry += "    " + printable(quoted) + "\n";
      // The compiler's own mark, where what it quotes is that line.
      if (i + 2 < lines.size() && trimmed(lines[i + 1]) == quoted && trimmed(lines[i + 2]) == "^") {
        const std::size_t indent = lines[i + 1].find(quoted), mark = lines[i + 2].find('^');
        if (mark >= indent && quoted.size() <= kMaxQuoted)
          entry += "    " + std::string(mark - indent, ' ') + "^\n";
      }
    }
    if (++errors > kMaxErrors || kept.size() + entry.size() > kMaxLogBytes - 64) {
      ++left_out;
    } else {
      kept += entry;
    }
  }
  if (left_out > 0)
    kept +=
        "and " + std::to_string(left_out) + (left_out == 1 ? " more error\n" : " more errors\n");
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
      if (const auto value = number_before(line, label))
        field = static_cast<std::decay_t<decltype(field)>>(*value);
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

CompileResult compile(const Nvrtc& nvrtc,
                      const std::vector<Header>& headers,
                      const CompileRequest& request,
                      const CompileLimits& limits) {
  if (auto refused = refused_request(request)) return std::move(*refused);
  const SourceText source = source_text(request.source);
  if (!source.problem.empty())
    return failed_compile(Status::compile_error, "the source is not UTF-8: " + source.problem);
  std::vector<std::string> options = nvrtc_options(request, nvrtc.major());
  // nvcc knows INFINITY and M_PI without an include.
  constexpr std::string_view kKnown = "math.h";
  if (std::ranges::find(headers, kKnown, &Header::name) != headers.end())
    options.push_back("--pre-include=" + std::string(kKnown));
  const std::vector<Header> all = with_own(request.headers, headers);
  const Stopwatch watch;
  NvrtcOutput output = nvrtc.compile({source.text, all, options, request.kernel});
  CompileResult result;
  result.seconds = watch.seconds();
  result.log = filter_log(output.log);
  if (output.out_of_memory ||
      output.log.find("catastrophic error: out of memory") != std::string::npos) {
    result.status = Status::limits_exceeded;
    result.log += "the compiler ran out of memory\n";
  } else if (!output.compiled || output.cubin.empty()) {
    result.status = Status::compile_error;
    result.log = error_log(output.log, source.text);
    if (result.log.empty() && output.log.find("__nv_name_map") != std::string::npos) {
      result.log = "the source has no kernel " + request.kernel + "\n";
    } else if (result.log.empty()) {
      result.log = error_of_headers(output.log, request.headers);
    }
    if (result.log.empty()) {
      result.log = "the compiler gives no reason within the kernel's own text\n";
    }
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
  return encode_frame(request);
}
bool decode(std::string_view frame, CompileRequest& request) {
  return decode_frame(frame, request);
}
std::string encode(const CompileResult& result) {
  return encode_frame(result);
}
bool decode(std::string_view frame, CompileResult& result) {
  return decode_frame(frame, result);
}

}  // namespace warpath::cuda
