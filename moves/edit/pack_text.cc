#include "moves/edit/pack_text.h"

#include <algorithm>
#include <set>

#include "moves/edit/hinted_access.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::size_t kMostBytes = 16;

/// C text of the polynomial whose products are made in 64 bits.
std::string wide_text(const Polynomial& value) {
  std::set<std::string> cast;
  for (const Polynomial::Term& term : value.terms()) {
    const bool product = term.factors.size() + (term.coefficient != 1 ? 1U : 0U) > 1;
    const auto is_cast = [&](const auto& factor) { return cast.contains(factor->text); };
    const auto is_name = [](const auto& factor) {
      return factor->op.empty() && factor->text.find_first_of(".'") == std::string::npos;
    };
    const auto name = std::ranges::find_if(term.factors, is_name);
    if (product && std::ranges::none_of(term.factors, is_cast) && name != term.factors.end())
      cast.insert((*name)->text);
  }
  Polynomial out = value;
  for (const std::string& name : cast)
    out = out.substituted(name, Polynomial::name("(long long)" + name));
  return out.text();
}

}  // namespace

std::string vector_type(std::string_view type, std::size_t element_bytes, std::size_t bytes) {
  const std::size_t count = bytes / std::max<std::size_t>(element_bytes, 1);
  if (count * element_bytes != bytes || count < 2) return "";
  if (type == "float" || type == "double" || type == "int") {
    return count == 2 || (count == 4 && type != "double")
               ? std::string(type) + std::to_string(count)
               : "";
  }
  switch (bytes) {
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned int";
    case 8:
      return "uint2";
    case 16:
      return "uint4";
    default:
      return "";
  }
}

std::string statements_text(const Unit& unit,
                            const std::vector<const Stmt*>& body,
                            const std::vector<Edit>& edits) {
  if (body.empty()) return "";
  const Stmt& first = *body.front();
  std::size_t begin = (first.pragma != nullptr ? first.pragma : &first)->span.begin;
  std::size_t end = body.back()->span.end;
  const std::string_view source = unit.source();
  // Comments above the first statement and behind the last one are its own.
  begin = std::min(begin, whole_lines(unit, {begin, end}, true).begin);
  const std::size_t line_end = std::min(source.find('\n', end), source.size());
  const std::size_t comment = source.find_first_not_of(" \t", end);
  if (comment != std::string_view::npos && source.substr(comment, 2) == "//" && comment < line_end)
    end = line_end;
  std::string text(begin - line_begin(source, begin), ' ');
  text += substituted(unit, {begin, end}, edits);
  return unindented(text);
}

std::string address_at(const KernelFacts& facts,
                       const PackPlan& plan,
                       const Pack& pack,
                       const std::string& value) {
  const Expr& element = *pack.accesses.front()->expr;
  if (pack.as_written) {
    std::vector<Edit> edits;
    if (value != plan.variable) rename_variable(element, plan.variable, value, edits);
    return "&" + substituted(*facts.unit, element.span, edits);
  }
  const auto number = integer_value(value);
  const Polynomial index = value == plan.variable
                               ? pack.index
                               : pack.index.without(plan.variable) +
                                     (number ? Polynomial(*number) : Polynomial::name(value));
  const bool wide =
      element.is(ExprKind::subscript) && size_of_type(type_of(facts, element.arg(1))) == 8;
  return "&" + pack.array->name + "[" + (wide ? wide_text(index) : index.text()) + "]";
}

std::size_t chunk_bytes(const Pack& pack, std::int64_t width) {
  const std::size_t all = pack.element_bytes * static_cast<std::size_t>(pack.stride * width);
  return std::min(kMostBytes, all & (~all + 1));  // the largest power of two that divides it
}

std::string packed_body(const KernelFacts& facts,
                        const PackPlan& plan,
                        const std::vector<const Stmt*>& body,
                        const std::vector<const Stmt*>& prefix,
                        std::string_view width_name,
                        Rewrite& rewrite) {
  const Unit& unit = *facts.unit;
  const std::string v = rewrite.fresh("v");
  std::vector<Edit> edits;
  std::string loads, stores;
  std::set<std::string> names;
  for (const Pack& pack : plan.packs) {
    const std::string local = rewrite.fresh(pack.array->name + "_pack"),
                      address = address_at(facts, plan, pack, plan.variable);
    const std::size_t bytes = chunk_bytes(pack, plan.width);
    const std::size_t chunks =
        pack.element_bytes * static_cast<std::size_t>(pack.stride * plan.width) / bytes;
    const std::string times = pack.stride == 1 ? "" : " * " + std::to_string(pack.stride);
    const std::string type = vector_type(pack.type, pack.element_bytes, bytes);
    loads += "alignas(" + std::to_string(bytes) + ") " + pack.type + " " + local + "[" +
             std::string(width_name) + times + "];\n";
    const bool is_const = pack.array->is_const || !pack.array->written;
    for (std::size_t c = 0; c < chunks; ++c) {
      const std::string at = chunks == 1 ? "" : "[" + std::to_string(c) + "]",
                        star = chunks == 1 ? "*" : "";
      const std::string here = star + "reinterpret_cast<" + type + "*>(" + local + ")" + at;
      const std::string there = "reinterpret_cast<" + type + "*>(" + address + ")" + at;
      const std::string from =
          star + (is_const ? "reinterpret_cast<const " + type + "*>(" + address + ")" + at : there);
      if (pack.load) loads += here + " = " + from + ";\n";
      if (pack.store) stores += star + there + " = " + here + ";\n";
    }
    for (std::size_t k = 0; k < pack.accesses.size(); ++k) {
      const Span span = replaceable(*pack.accesses[k])->span;
      edits.push_back({span.begin, span.end,
                       local + "[" + v + times +
                           (pack.offsets[k] == 0 ? "" : " + " + std::to_string(pack.offsets[k])) +
                           "]"});
    }
  }
  std::vector<Edit> renames;
  for (const Stmt* s : body) rename_variable(*s, plan.variable, plan.variable + " + " + v, renames);
  for (const Stmt* s : prefix)
    rename_variable(*s, plan.variable, plan.variable + " + " + v, renames);
  for (Edit& rename : renames) {
    const bool covered = std::any_of(edits.begin(), edits.end(), [&](const Edit& e) {
      return e.begin <= rename.begin && rename.end <= e.end;
    });
    if (!covered) edits.push_back(std::move(rename));
  }
  const std::string step = indent_unit(unit);
  std::string out = loads + "#pragma unroll\nfor (int " + v + " = 0; " + v + " < " +
                    std::string(width_name) + "; ++" + v + ") {\n";
  for (const Stmt* s : prefix) out += indented(statements_text(unit, {s}, edits), step);
  return out + indented(statements_text(unit, body, edits), step) + "}\n" + stores;
}

}  // namespace warpath
