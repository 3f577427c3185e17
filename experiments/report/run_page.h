#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/console/document.h"
#include "experiments/report/run_material.h"

namespace warpath {

/// The page of a run, complete and self-contained: headline, charts, search graph, the sections of
/// run_report. `state`: of a page that a server keeps up to date, what the search does now; empty:
/// the page stays as it is.
[[nodiscard]] std::string run_page(const RunMaterial& material, const std::string& state = {});

/// What a live page asks for: {"state", "head"?, "rest"?, "run"?}; the last three only if the log
/// has grown beyond line `after`.
[[nodiscard]] std::string run_news(const RunMaterial& material,
                                   std::uint64_t after,
                                   const std::string& state);
/// A live page of a run whose baseline is not measured yet.
[[nodiscard]] std::string waiting_page(const std::string& name, const std::string& state);

/// A table of runs, best first, which links to `report.html` in each folder, relative to `from`.
[[nodiscard]] Document batch_report(const std::vector<RunMaterial>& runs,
                                    const std::filesystem::path& from);
/// It as a page whose table sorts.
[[nodiscard]] std::string batch_page(const Document& report);

}  // namespace warpath
