#include "moves/normal/overloads.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/text/function_text.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// How well a parameter takes an argument: as it is, by a conversion between numbers, or not known.
enum class Fit : std::uint8_t { exact, converted, unknown };

bool is_number(const std::string& type) {
  return is_integer_type(type) || type == "float" || type == "double" || type == "bool";
}

Fit fit_of(const NormalSite& site, const Declarator& p, const Expr& argument) {
  const std::size_t depth = static_cast<std::size_t>(p.pointer_depth) + p.extents.size();
  const std::string wanted =
      site.unit.resolved_type(site.unit.plain_text(p.type)) + std::string(depth, '*');
  const std::string given = type_of(site.facts, argument);
  if (given.empty()) return Fit::unknown;
  if (given == wanted) return Fit::exact;
  const bool changes = p.reference && !p.has(kConst);
  return is_number(given) && is_number(wanted) && !changes ? Fit::converted : Fit::unknown;
}

bool is_template(const NormalSite& site, const Expr& call, const Function& f) {
  return !f.template_parameters.empty() ||
         site.unit.text(call.arg(0)).find('<') != std::string_view::npos;
}

std::string without_volatile(std::string text) {
  constexpr std::string_view kWord = "volatile";
  for (std::size_t at = 0; (at = text.find(kWord, at)) != std::string::npos;)
    text.erase(at, kWord.size());
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

/// Of functions that differ in volatile parameters alone, the one without any takes arguments that
/// are not volatile as they are, the others by a conversion.
void drop_volatile(const NormalSite& site, std::vector<const Function*>& all) {
  const auto parameters = [&](const Function* f) {
    return site.unit.plain_text(f->parameters_span);
  };
  const auto is_volatile = [&](const Function* f) {
    return parameters(f).find("volatile") != std::string::npos;
  };
  if (site.unit.text(site.kernel.span).find("volatile") != std::string_view::npos) return;
  std::erase_if(all, [&, keep = all](const Function* f) {
    return is_volatile(f) && std::ranges::any_of(keep, [&](const Function* other) {
             return !is_volatile(other) &&
                    other->template_parameters.size() == f->template_parameters.size() &&
                    without_volatile(parameters(other)) == without_volatile(parameters(f));
           });
  });
}

}  // namespace

bool takes_exactly(const NormalSite& site, const Expr& call, const Function& function) {
  if (is_template(site, call, function) || call.args.size() - 1 != function.parameters.size())
    return false;
  for (std::size_t i = 0; i + 1 < call.args.size(); ++i) {
    if (fit_of(site, *function.parameters[i], call.arg(i + 1)) != Fit::exact) return false;
  }
  return true;
}

void keep_chosen(const NormalSite& site, const Expr& call, std::vector<const Function*>& all) {
  drop_volatile(site, all);
  if (std::ranges::any_of(all, [&](const Function* f) { return is_template(site, call, *f); })) {
    // a function whose parameters are the arguments' types comes before any template
    std::erase_if(all, [keep = all, &site, &call](const Function* f) {
      const auto exact = [&](const Function* one) { return takes_exactly(site, call, *one); };
      return std::ranges::count_if(keep, exact) == 1 && !exact(f);
    });
    return;
  }
  const std::size_t given = call.args.size() - 1;
  const auto fits = [&](const Function* f) {
    std::vector<Fit> out;
    for (std::size_t i = 0; i < given; ++i)
      out.push_back(fit_of(site, *f->parameters[i], call.arg(i + 1)));
    return out;
  };
  std::vector<const Function*> best;
  for (const Function* f : all) {
    const std::vector<Fit> own = fits(f);
    if (std::ranges::find(own, Fit::unknown) != own.end()) {
      // it may not take them at all, or better than is known
      const bool certain = std::ranges::any_of(all, [&](const Function* other) {
        return other != f && takes_exactly(site, call, *other);
      });
      if (!certain) return;
      continue;
    }
    const bool wins = std::ranges::all_of(all, [&](const Function* other) {
      if (other == f) return true;
      const std::vector<Fit> theirs = fits(other);
      bool better = false, worse = false;
      for (std::size_t i = 0; i < given; ++i) {
        better = better || own[i] < theirs[i];
        worse = worse || own[i] > theirs[i];
      }
      return better && !worse;
    });
    if (wins) best.push_back(f);
  }
  if (best.size() == 1) all = std::move(best);
}

bool is_name_of_cuda(std::string_view name) {
  constexpr auto kAtomics = std::to_array<std::string_view>(
      {"Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor"});
  static const Unit nothing = parse(std::string());  // names that no file declares
  const std::string_view place = name.starts_with("atomic") ? name.substr(6) : std::string_view();
  const bool atomic = std::ranges::any_of(kAtomics, [&](std::string_view op) {
    return place.starts_with(op) &&
           (place.size() == op.size() || place.substr(op.size()) == "_block" ||
            place.substr(op.size()) == "_system");
  });
  return atomic || name.starts_with("__") || is_pure_function(nothing, name) ||
         (is_cuda_name(name) && !name.starts_with("cuda") && !name.starts_with("CUDA"));
}

}  // namespace warpath
