#include "experiments/capture/capture_log.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "engine/base/error.h"
#include "experiments/capture/captured_kernel_io.h"

namespace warpath {

namespace fs = std::filesystem;

namespace {

/// Collects the lines of logs.
class LogReader {
 public:
  void read(const fs::path& file) {
    process_ = {};
    const std::string text = read_text_file(file.string(), kMostLogBytes, file.string());
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      if (end == std::string::npos) {
        ++capture_.unfinished;
        break;
      }
      const std::string place = file.string() + ":" + std::to_string(++number);
      const nlohmann::json line =
          parse_json(std::string_view(text).substr(begin, end - begin), place);
      take(JsonCursor(line, place));
      begin = end + 1;
    }
    ++capture_.processes;
    finish_process();
  }

  Capture take_result() {
    for (CapturedKernel& kernel : kernels_) settle(kernel);
    std::erase_if(kernels_, [](const CapturedKernel& kernel) { return kernel.launches.empty(); });
    double total = 0;
    for (const CapturedKernel& kernel : kernels_) total += kernel.time_ns;
    capture_.timed = total > 0;
    for (CapturedKernel& kernel : kernels_) {
      kernel.share = total > 0 ? kernel.time_ns / total : 0;
      for (const CapturedLaunch& launch : kernel.launches) capture_.launches += launch.launches;
    }
    std::ranges::stable_sort(kernels_, [](const CapturedKernel& a, const CapturedKernel& b) {
      return std::pair(a.time_ns, count(a)) > std::pair(b.time_ns, count(b));
    });
    capture_.kernels = std::move(kernels_);
    return std::move(capture_);
  }

  [[nodiscard]] static std::uint64_t count(const CapturedKernel& kernel) {
    return std::accumulate(
        kernel.launches.begin(), kernel.launches.end(), std::uint64_t{0},
        [](std::uint64_t sum, const CapturedLaunch& one) { return sum + one.launches; });
  }

 private:
  static constexpr std::size_t kMostLogBytes = std::size_t{1} << 30U;

  struct Process {
    std::string device;
    std::map<std::uint64_t, std::size_t> kernels;  // by number in the log
    std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> layouts;
    struct Shape {
      std::uint64_t kernel = 0;
      CapturedLaunch launch;
    };
    std::map<std::uint64_t, Shape> shapes;
    std::uint64_t graph_launches = 0;
  };

  void take(const JsonCursor& line) {
    const std::string type = line.at("type").text();
    if (type == "driver") process_.device = line.at("device").text();
    if (type == "kernel") kernel(line);
    if (type == "launch") launch(line);
    if (type == "time") {
      shape(line.at("launch")).samples_ns.push_back(line.at("nanoseconds").number());
    }
    if (type == "counts") {
      const JsonCursor counts = line.at("counts");
      for (std::size_t i = 0; i < counts.size(); ++i)
        shape(counts.element(i).element(0)).launches =
            counts.element(i).element(1).unsigned_integer();
      process_.graph_launches = line.at("graph_launches").unsigned_integer();
    }
  }

  CapturedLaunch& shape(const JsonCursor& number) {
    const auto found = process_.shapes.find(number.unsigned_integer());
    if (found == process_.shapes.end()) number.fail("the number of an earlier launch");
    return found->second.launch;
  }

  void kernel(const JsonCursor& line) {
    CapturedKernel one{.kernel = {},
                       .symbol = line.at("name").text(),
                       .signature = {},
                       .image = line.at("image").text(),
                       .device = process_.device,
                       .launches = {}};
    name_kernel(one);
    const std::uint64_t number = line.at("kernel").unsigned_integer();
    if (line.find("parameters"))
      Codec<std::vector<std::pair<std::uint64_t, std::uint64_t>>>::read(line.at("parameters"),
                                                                        process_.layouts[number]);
    const auto known = std::ranges::find_if(kernels_, [&](const CapturedKernel& other) {
      return other.symbol == one.symbol && other.image == one.image;
    });
    process_.kernels[number] = static_cast<std::size_t>(known - kernels_.begin());
    if (known == kernels_.end()) kernels_.push_back(std::move(one));
  }

  void launch(const JsonCursor& line) {
    Process::Shape shape;
    shape.kernel = line.at("kernel").unsigned_integer();
    if (!process_.kernels.contains(shape.kernel))
      line.at("kernel").fail("the number of an earlier kernel");
    CapturedLaunch& out = shape.launch;
    out.others = line.find("others").has_value();
    if (!out.others) {
      Codec<std::array<std::int64_t, 3>>::read(line.at("grid"), out.grid);
      Codec<std::array<std::int64_t, 3>>::read(line.at("block"), out.block);
      Codec<std::array<std::int64_t, 3>>::read(line.at("cluster"), out.cluster);
      out.dynamic_smem_bytes = line.at("dynamic_smem_bytes").integer();
      const JsonCursor parameters = line.at("parameters");
      Codec<std::vector<CapturedParameter>>::read(parameters, out.parameters);
      for (std::size_t i = 0; i < out.parameters.size(); ++i) {
        for (const auto& pointer : out.parameters[i].pointers) {
          if (2 * pointer[0] + 16 > out.parameters[i].bytes.size())
            parameters.element(i).at("pointers").fail("positions within the parameter");
        }
      }
    }
    const auto& layout = process_.layouts[shape.kernel];
    for (std::size_t i = 0; i < out.parameters.size() && i < layout.size(); ++i) {
      out.parameters[i].offset = layout[i].first;
      out.parameters[i].size = layout[i].second;
    }
    out.launches = 1;  // it was about to be made
    process_.shapes[line.at("launch").unsigned_integer()] = std::move(shape);
  }

  /// What launches of a kernel must have in common to be counted together; where buffers lie
  /// differs from process to process.
  static std::string content(const CapturedLaunch& launch) {
    nlohmann::json rest{launch.grid, launch.block, launch.cluster, launch.dynamic_smem_bytes,
                        launch.others};
    for (const CapturedParameter& one : launch.parameters) {
      std::string bytes = one.bytes;
      for (const auto& pointer : one.pointers)
        bytes.replace(static_cast<std::size_t>(2 * pointer[0]), 16, 16, '*');
      rest.push_back(bytes);
    }
    return rest.dump();
  }

  void finish_process() {
    for (auto& [number, shape] : process_.shapes) {
      CapturedLaunch& launch = shape.launch;
      // the first also loads the code
      if (launch.samples_ns.size() > 1) launch.samples_ns.erase(launch.samples_ns.begin());
      const std::size_t kernel = process_.kernels[shape.kernel];
      auto& known = kernels_[kernel].launches;
      const auto [place, is_new] =
          places_.try_emplace(std::pair(kernel, content(launch)), known.size());
      if (is_new) {
        known.push_back(std::move(launch));
        continue;
      }
      CapturedLaunch* const equal = &known[place->second];
      equal->launches += launch.launches;
      equal->samples_ns.insert(equal->samples_ns.end(), launch.samples_ns.begin(),
                               launch.samples_ns.end());
    }
    capture_.graph_launches += process_.graph_launches;
  }

  /// Times and order of a kernel's launches. One that was not timed takes as long as the others do
  /// on average.
  static void settle(CapturedKernel& kernel) {
    std::erase_if(kernel.launches, [](const CapturedLaunch& one) { return one.launches == 0; });
    double timed = 0, of = 0;
    for (const CapturedLaunch& one : kernel.launches) {
      if (one.samples_ns.empty()) continue;
      timed += one.median_ns() * static_cast<double>(one.launches);
      of += static_cast<double>(one.launches);
    }
    const auto time = [&](const CapturedLaunch& one) {
      const double each = one.samples_ns.empty() ? (of > 0 ? timed / of : 0) : one.median_ns();
      return each * static_cast<double>(one.launches);
    };
    for (CapturedLaunch& one : kernel.launches) kernel.time_ns += one.weight = time(one);
    const double all = static_cast<double>(count(kernel));
    for (CapturedLaunch& one : kernel.launches)
      one.weight = kernel.time_ns > 0 ? one.weight / kernel.time_ns
                                      : static_cast<double>(one.launches) / all;
    std::ranges::stable_sort(kernel.launches, std::ranges::greater{}, &CapturedLaunch::weight);
  }

  Capture capture_;
  std::vector<CapturedKernel> kernels_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> places_;  // of launches, by content
  Process process_;
};

}  // namespace

Capture read_capture(const fs::path& folder) {
  LogReader reader;
  std::vector<fs::path> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder / "log", absent)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) reader.read(file);
  return reader.take_result();
}

std::size_t kernels_in_share(const Capture& capture, double share) {
  double covered = 0;
  std::size_t taken = 0;
  for (const CapturedKernel& kernel : capture.kernels) {
    if (covered >= share * (1 - 1e-9)) break;
    covered += capture.timed ? kernel.share
                             : static_cast<double>(LogReader::count(kernel)) /
                                   static_cast<double>(capture.launches);
    ++taken;
  }
  return taken;
}

}  // namespace warpath
