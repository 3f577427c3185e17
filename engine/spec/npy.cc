#include "engine/spec/npy.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"

namespace warpath {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 40U;

std::string_view descr(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "<f8";
    case DType::f32:
      return "<f4";
    case DType::f16:
      return "<f2";
    case DType::bf16:
      return "<u2";  // its bits: numpy has no such type
    case DType::i64:
      return "<i8";
    case DType::i32:
      return "<i4";
    case DType::i16:
      return "<i2";
    case DType::i8:
      return "|i1";
    case DType::u64:
      return "<u8";
    case DType::u32:
      return "<u4";
    case DType::u16:
      return "<u2";
    case DType::u8:
      return "|u1";
    case DType::boolean:
      return "|b1";
  }
  return "";
}

/// Text after "'key':" in the header, spaces skipped; empty if the key is missing.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "'";
  auto at = header.find(quoted);
  if (at == std::string_view::npos) return {};
  at += quoted.size();
  while (at < header.size() && (header[at] == ' ' || header[at] == ':')) ++at;
  return header.substr(at);
}

/// "(2, 3)" or "(2,)" or "()".
std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  if (text.empty() || text[0] != '(') return std::nullopt;
  std::vector<std::int64_t> shape;
  std::size_t at = 1;
  for (;;) {
    while (at < text.size() && (text[at] == ' ' || text[at] == ',')) ++at;
    if (at >= text.size()) return std::nullopt;
    if (text[at] == ')') return shape;
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) return std::nullopt;
    shape.push_back(extent);
    at = static_cast<std::size_t>(end - text.data());
    if (at < text.size() && text[at] == 'L') ++at;  // written by Python 2
  }
}

struct Header {
  std::string_view text;
  std::size_t data_at = 0;
};

Header find_header(std::string_view file, const std::string& path) {
  if (file.substr(0, kMagic.size()) != kMagic || file.size() < 10)
    throw bad_input(path, "", "a .npy file");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(file[i]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    throw bad_input(path, "version " + std::to_string(version), ".npy version 1, 2 or 3");
  std::size_t length = byte(8) | byte(9) << 8U, at = 10;
  if (version > 1) {
    if (file.size() < 12) throw bad_input(path, "", "a whole .npy header");
    length |= byte(10) << 16U | byte(11) << 24U;
    at = 12;
  }
  if (length > file.size() - at) throw bad_input(path, "", "a whole .npy header");
  return {file.substr(at, length), at + length};
}

}  // namespace

Tensor read_npy(const std::string& path, DType expected) {
  const std::string file = read_text_file(path, kMaxFileBytes, path);
  const Header header = find_header(file, path);
  const std::string wanted = "'" + std::string(descr(expected)) + "'";
  const std::string_view type = value_of(header.text, "descr");
  if (type.substr(0, wanted.size()) != wanted) {
    throw bad_input(path, "descr " + std::string(type.substr(0, type.find(','))),
                    wanted + " (" + std::string(info(expected).name) + ")");
  }
  if (value_of(header.text, "fortran_order").substr(0, 5) != "False")
    throw bad_input(path, "", "C order (fortran_order False)");
  const auto shape = parse_shape(value_of(header.text, "shape"));
  if (!shape) throw bad_input(path, "", "a shape of extents >= 0");
  std::int64_t size_bytes = static_cast<std::int64_t>(info(expected).size_bytes);
  for (const std::int64_t extent : *shape) {
    if (__builtin_mul_overflow(size_bytes, extent, &size_bytes))
      throw bad_input(path, "", "a shape that fits memory");
  }
  if (static_cast<std::size_t>(size_bytes) != file.size() - header.data_at) {
    throw bad_input(path, std::to_string(file.size() - header.data_at) + " bytes of data",
                    std::to_string(size_bytes) + " bytes, as shape and type say");
  }
  Tensor out = make_tensor(expected, *shape);
  const auto data = std::as_bytes(std::span(file)).subspan(header.data_at);
  std::copy(data.begin(), data.end(), out.bytes.begin());
  return out;
}

void write_npy(const std::string& path, const Tensor& tensor) {
  std::string shape;
  for (const std::int64_t extent : tensor.shape) shape += std::to_string(extent) + ", ";
  if (tensor.shape.size() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape.size() == 1) shape.pop_back();
  std::string header = "{'descr': '" + std::string(descr(tensor.dtype)) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const bool large = header.size() > 60000;
  const std::size_t prefix = large ? 12 : 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');  // data begin at a multiple of 64
  header += '\n';
  std::string start(kMagic);
  start += large ? '\2' : '\1';
  start += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i)
    start += static_cast<char>(header.size() >> (8 * i) & 0xffU);

  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary);
    out.write(start.data(), static_cast<std::streamsize>(start.size()));
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    out.write(reinterpret_cast<const char*>(tensor.bytes.data()),
              static_cast<std::streamsize>(tensor.bytes.size()));
    out.close();
    if (!out) {
      std::remove(temporary.c_str());
      throw environment_error(path + ": cannot be written");
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    std::remove(temporary.c_str());
    throw environment_error(path + ": cannot be written (" + error.message() + ")");
  }
}

}  // namespace warpath
