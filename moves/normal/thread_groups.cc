#include "moves/normal/thread_groups.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/text/function_text.h"
#include "moves/edit/span_rewrite.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::string_view kFull = "0xffffffff";

enum class GroupKind : std::uint8_t { block, warp };

/// Name behind the last "::".
std::string_view short_name(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

bool is_first_axis_alone(const KernelSpec& spec, const Variant& variant) {
  const auto one = [](const Expression& e) { return e == Expression(1); };
  return !has_own_plans(spec) && one(variant.launch.block[1]) && one(variant.launch.block[2]);
}

/// Reads and writes out all groups of a kernel.
class Groups {
 public:
  explicit Groups(const NormalSite& site)
      : site_(site), flat_(is_first_axis_alone(site.spec, site.variant)) {}

  bool write(std::vector<Edit>& edits, std::string& why) {
    find();
    if (groups_.empty() && !uses_temporary_) return false;
    bool all = true;
    walk_expressions(*site_.kernel.body, [&](const Expr& e) {
      if (!all) return false;
      const auto kind = group_of(e);
      if (!kind) return true;
      all = use(e, *kind, edits, why);
      return false;
    });
    if (!all) return false;
    for (const Stmt* s : declarations_) {
      const Span lines = whole_lines(site_.unit, s->span);
      edits.push_back({lines.begin, lines.end, ""});
    }
    return !edits.empty();
  }

 private:
  /// Declared groups, in order, since one may be derived from another.
  void find() {
    walk(*site_.kernel.body, [&](const Stmt& s) {
      if (!s.is(StmtKind::declaration) || s.declarators.size() != 1) return true;
      const Declarator& d = *s.declarators[0];
      if (d.init.size() != 1 || d.is_pointer() || d.is_array()) return true;
      const auto kind = group_of(*d.init[0]);
      if (!kind) return true;
      const std::string type = site_.unit.plain_text(d.type);
      const bool named = type == "auto" || type.find("thread_block") != std::string::npos;
      if (!named) return true;  // thread_group: of any kind
      groups_[&d] = *kind;
      declarations_.push_back(&s);
      return true;
    });
    walk_expressions(*site_.kernel.body, [&](const Expr& e) {
      uses_temporary_ = uses_temporary_ || short_name(callee(e)) == "this_thread_block";
      return true;
    });
  }

  [[nodiscard]] std::optional<GroupKind> group_of(const Expr& e) const {
    if (e.is(ExprKind::name)) {
      const auto found = groups_.find(declaration_of(site_.unit, e));
      return found == groups_.end() ? std::nullopt : std::optional(found->second);
    }
    if (!e.is(ExprKind::call) || !e.arg(0).is(ExprKind::name)) return std::nullopt;
    const std::string_view f = short_name(callee(e));
    if (f == "this_thread_block" && e.args.size() == 1) return GroupKind::block;
    const std::string_view full = e.arg(0).name;
    if (f == "tiled_partition" && full.ends_with("<32>") && e.args.size() == 2 &&
        group_of(e.arg(1)))
      return GroupKind::warp;
    return std::nullopt;
  }

  [[nodiscard]] std::string rank() const {
    return flat_ ? "threadIdx.x"
                 : "((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)";
  }
  [[nodiscard]] std::string size() const {
    return flat_ ? "blockDim.x" : "(blockDim.x * blockDim.y * blockDim.z)";
  }

  /// The group's use at `e`: what it is the object of, or an argument.
  bool use(const Expr& e, GroupKind kind, std::vector<Edit>& edits, std::string& why) const {
    const Expr* const up = e.parent;
    if (up == nullptr) {
      const bool declares =
          e.stmt != nullptr && std::ranges::find(declarations_, e.stmt) != declarations_.end();
      return declares || refuse(e, why);
    }
    const bool method = up->is_op(ExprKind::member, ".") && up->parent != nullptr &&
                        up->parent->is(ExprKind::call) && up->parent->args[0] == up;
    if (method) return call(*up->parent, up->name, kind, edits, why);
    const bool argument = up->is(ExprKind::call) && up->args.size() == 2 && up->args[1] == &e;
    if (argument && short_name(callee(*up)) == "sync") return barrier(*up, kind, edits);
    return refuse(e, why);
  }

  bool refuse(const Expr& e, std::string& why) const {
    why = "the group " + site_.unit.plain_text(e.span) + " is used in a way of its own";
    return false;
  }

  static bool barrier(const Expr& call, GroupKind kind, std::vector<Edit>& edits) {
    edits.push_back({call.span.begin, call.span.end,
                     kind == GroupKind::block ? "__syncthreads()" : "__syncwarp()"});
    return true;
  }

  bool call(const Expr& call,
            std::string_view method,
            GroupKind kind,
            std::vector<Edit>& edits,
            std::string& why) const {
    const std::size_t given = call.args.size() - 1;
    const auto put = [&](const std::string& text) {
      edits.push_back({call.span.begin, call.span.end, text});
      return true;
    };
    const bool block = kind == GroupKind::block;
    if (method == "sync" && given == 0) return barrier(call, kind, edits);
    if (method == "thread_rank" && given == 0) return put(block ? rank() : "(" + rank() + " % 32)");
    if ((method == "size" || method == "num_threads") && given == 0)
      return put(block ? size() : "32U");
    if (!block && method == "meta_group_rank" && given == 0) return put("(" + rank() + " / 32)");
    if (!block && method == "meta_group_size" && given == 0)
      return put("((" + size() + " + 31) / 32)");
    if (block && given == 0 && call.parent != nullptr &&
        call.parent->is_op(ExprKind::member, ".")) {
      if (method == "thread_index") return put("threadIdx");
      if (method == "group_index") return put("blockIdx");
    }
    // a shuffle of the group's 32 threads; its operands may say groups too
    const bool shuffle =
        method == "shfl_down" || method == "shfl_up" || method == "shfl_xor" || method == "shfl";
    const bool vote = method == "any" || method == "all" || method == "ballot";
    if (block || !((shuffle && given == 2) || (vote && given == 1)))
      return why = "the kernel calls " + std::string(method) + " of a group of threads", false;
    const std::size_t open = site_.unit.source().find('(', call.arg(0).span.end);
    edits.push_back({call.span.begin, open + 1,
                     "__" + std::string(method) + "_sync(" + std::string(kFull) + ", "});
    bool all = true;
    for (std::size_t i = 1; i < call.args.size(); ++i) {
      walk(call.arg(i), [&](const Expr& e) {
        if (!all) return false;
        const auto inner = group_of(e);
        if (!inner) return true;
        all = use(e, *inner, edits, why);
        return false;
      });
    }
    return all;
  }

  const NormalSite& site_;
  const bool flat_;
  std::map<const Declarator*, GroupKind> groups_;
  std::vector<const Stmt*> declarations_;
  bool uses_temporary_ = false;
};

}  // namespace

bool write_out_groups(const NormalSite& site, std::vector<Edit>& edits, std::string& why) {
  const auto named = [&](std::string_view name) {
    return std::ranges::any_of(site.unit.functions(),
                               [&](const Function* f) { return f->name == name; });
  };
  if (!site.unit.identifiers().contains("cooperative_groups") || named("sync") ||
      named("this_thread_block") || named("tiled_partition"))
    return false;
  std::vector<Edit> own;
  if (!Groups(site).write(own, why)) return false;
  edits.insert(edits.end(), own.begin(), own.end());
  return true;
}

void drop_group_header(const Unit& unit, std::vector<Edit>& edits) {
  const std::string source(unit.source());
  const CodeText code(source);
  std::vector<Span> found;
  std::map<std::string, std::ptrdiff_t> aliases;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    const Token& t = code.tokens[i];
    if (t.kind == TokenKind::directive) {
      const std::string_view line = std::string_view(source).substr(t.begin, t.size());
      if (line.find("cooperative_groups") == std::string_view::npos) continue;
      if (directive_name(source, t) != "include") return;
      found.push_back({t.begin, t.end});
    } else if (code.is(i, "cooperative_groups")) {
      if (i >= 3 && code.is(i - 1, "=") && code.is(i - 3, "namespace") && code.is(i + 1, ";")) {
        ++aliases[std::string(code.text[i - 2])];
        found.push_back({code.tokens[i - 3].begin, code.tokens[i + 1].end});
      } else if (i >= 2 && code.is(i - 1, "namespace") && code.is(i - 2, "using") &&
                 code.is(i + 1, ";")) {
        found.push_back({code.tokens[i - 2].begin, code.tokens[i + 1].end});
      } else {
        return;
      }
    }
  }
  for (const auto& [alias, times] : aliases) {
    if (std::ranges::count(code.text, alias) != times) return;
    for (const Token& t : code.tokens) {
      const std::string_view text = std::string_view(source).substr(t.begin, t.size());
      if (t.kind == TokenKind::directive && text.find(alias + "::") != std::string_view::npos)
        return;
    }
  }
  for (const Span span : found) {
    const Span lines = whole_lines(unit, span);
    edits.push_back({lines.begin, lines.end, ""});
  }
}

}  // namespace warpath
