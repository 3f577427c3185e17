#include "runners/cuda/code/ptx_delays.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "runners/cuda/code/ptx_tokens.h"

namespace warpath::cuda {
namespace {

/// A function gets no more places: what its code grows by, and the time to assemble it.
constexpr std::size_t kMostSites = 384;
constexpr std::size_t kMostSplits = 48;
constexpr std::size_t kMostSplitInstructions = 200;
constexpr std::size_t kMostPtxBytes = std::size_t{1} << 20U;

/// "ld.shared::cta.f32" has "shared::cta"; true for `part` "shared" as well.
bool has_part(std::string_view word, std::string_view part) {
  for (std::size_t at = word.find(part); at != std::string_view::npos;
       at = word.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if (at > 0 && word[at - 1] == '.' &&
        (end == word.size() || word[end] == '.' || word[end] == ':'))
      return true;
  }
  return false;
}

enum class Kind : std::uint8_t {
  other,  ///< arithmetic
  shared_read,
  shared_write,
  global_read,
  global_write,
  wait,         ///< of threads for each other or for a copy: slow behind it
  arrive,       ///< others wait for it: slow before it
  wait_arrive,  ///< both
  branch,
  together,  ///< what lanes of a warp do together, and calls
};

Kind kind_of(std::string_view word) {
  const std::string_view opcode = word.substr(0, word.find('.'));
  const bool shared = has_part(word, "shared");
  if (opcode == "ld" || opcode == "ldu") {
    if (has_part(word, "param") || has_part(word, "const") || has_part(word, "local"))
      return Kind::other;
    return shared ? Kind::shared_read : Kind::global_read;
  }
  if (opcode == "st" || opcode == "atom" || opcode == "red") {
    if (has_part(word, "param") || has_part(word, "local")) return Kind::other;
    return shared ? Kind::shared_write : Kind::global_write;
  }
  if (opcode == "bar" || opcode == "barrier") {
    if (has_part(word, "warp")) return Kind::together;
    if (has_part(word, "arrive")) return Kind::arrive;
    return has_part(word, "wait") ? Kind::wait : Kind::wait_arrive;
  }
  if (opcode == "mbarrier")
    return has_part(word, "arrive") || has_part(word, "arrive_drop") ? Kind::arrive : Kind::wait;
  if (opcode == "cp" || opcode == "wgmma") {
    if (has_part(word, "wait_group") || has_part(word, "wait_all")) return Kind::wait;
    return opcode == "cp" && !has_part(word, "commit_group") ? Kind::arrive : Kind::together;
  }
  if (opcode == "ldmatrix") return Kind::shared_read;
  if (opcode == "stmatrix") return Kind::shared_write;
  if (opcode == "wmma" && has_part(word, "load"))
    return shared ? Kind::shared_read : Kind::global_read;
  if (opcode == "wmma" && has_part(word, "store"))
    return shared ? Kind::shared_write : Kind::global_write;
  if (is_one_of(opcode, {"bra", "brx", "ret", "exit", "trap"})) return Kind::branch;
  if (is_one_of(opcode, {"shfl", "vote", "match", "redux", "activemask", "elect", "mma", "wmma",
                         "tcgen05", "setmaxnreg", "call", "fence", "membar", "nanosleep",
                         "griddepcontrol", "alloca", "stacksave", "stackrestore"})) {
    return Kind::together;
  }
  return Kind::other;
}

/// True for an access that the lanes of a warp make together although it reads or writes memory.
bool is_collective(std::string_view word) {
  const std::string_view opcode = word.substr(0, word.find('.'));
  return is_one_of(opcode, {"ldmatrix", "stmatrix", "wmma"});
}

/// A piece of a function's body, by its place in the text.
struct Piece {
  enum class What : std::uint8_t { instruction, label, open, close, declaration };
  What what = What::declaration;
  std::size_t begin = 0, end = 0;
  int depth = 0;
  std::string_view word{};  ///< instruction: dotted opcode
  bool guarded = false;
};

struct Function {
  bool is_entry = false;
  bool is_limited = false;  ///< says how many threads it is for
  std::size_t open = 0;     ///< of its body: the brace
  std::vector<Piece> pieces;
};

/// Cuts a text into functions and their bodies into pieces.
class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text), tokens_(tokenize_ptx(text)) {}

  /// False where braces do not match.
  bool cut() {
    while (at_ < tokens_.size()) {
      const PtxToken token = tokens_[at_++];
      if (token.is(".address_size") && at_ < tokens_.size()) header_end = end_of(tokens_[at_++]);
      if ((token.is(".entry") || token.is(".func")) && !function(token.is(".entry"))) return false;
    }
    return header_end > 0;
  }
  std::size_t header_end = 0;  ///< behind .address_size
  std::vector<Function> functions;

 private:
  [[nodiscard]] std::size_t begin_of(const PtxToken& token) const {
    return static_cast<std::size_t>(token.text.data() - text_.data());
  }
  [[nodiscard]] std::size_t end_of(const PtxToken& token) const {
    return begin_of(token) + token.text.size();
  }
  [[nodiscard]] bool at(std::string_view what, std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() && tokens_[at_ + ahead].is(what);
  }

  bool function(bool is_entry) {
    Function found;
    found.is_entry = is_entry;
    while (at_ < tokens_.size() && !at("{") && !at(";")) {
      found.is_limited = found.is_limited || at(".maxntid") || at(".reqntid") || at(".maxnreg");
      ++at_;
    }
    if (at_ >= tokens_.size()) return false;
    if (at(";")) return true;  // declared here, defined elsewhere
    found.open = begin_of(tokens_[at_++]);
    for (int depth = 1; depth > 0;) {
      if (at_ >= tokens_.size()) return false;
      Piece piece{.begin = begin_of(tokens_[at_])};
      if (at("{")) {
        piece.what = Piece::What::open;
        piece.depth = depth++;
        ++at_;
      } else if (at("}")) {
        piece.what = Piece::What::close;
        piece.depth = --depth;
        ++at_;
        if (depth == 0) break;
      } else {
        piece.depth = depth;
        statement(piece);
      }
      piece.end = end_of(tokens_[at_ - 1]);
      found.pieces.push_back(piece);
    }
    functions.push_back(std::move(found));
    return true;
  }

  void statement(Piece& piece) {
    const PtxToken first = tokens_[at_];
    if (first.kind == PtxToken::Kind::word && at(":", 1)) {
      piece.what = Piece::What::label;
      at_ += 2;
    } else if (first.is(".loc")) {
      at_ = std::min(at_ + 4, tokens_.size());
      while (at(",")) at_ = std::min(at_ + 3, tokens_.size());
    } else {
      const bool is_directive = first.kind == PtxToken::Kind::word && first.text.starts_with('.');
      if (!is_directive) piece.what = Piece::What::instruction;
      std::size_t word = at_;
      if (first.is("@")) {
        piece.guarded = true;
        word += at("!", 1) ? 3 : 2;
      }
      if (word < tokens_.size()) piece.word = tokens_[word].text;
      while (at_ < tokens_.size() && !at(";")) ++at_;
      if (at_ < tokens_.size()) ++at_;
    }
  }

  std::string_view text_;
  std::vector<PtxToken> tokens_;
  std::size_t at_ = 0;
};

std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7feb352dU;
  x ^= x >> 15U;
  x *= 0x846ca68bU;
  return x ^ (x >> 16U);
}

class Rewriter {
 public:
  Rewriter(std::string_view text, std::int64_t threads) : text_(text), threads_(threads) {
    for (prefix_ = "wpd_"; text.find(prefix_) != std::string_view::npos;) prefix_ += "x_";
    result_.plan = prefix_ + "plan";
  }

  DelayedPtx rewrite() {
    if (text_.size() > kMostPtxBytes) return refuse("the PTX is too long");
    Cutter cutter(text_);
    if (!cutter.cut()) return refuse("the PTX has another form than the compiler's");
    copy_to(cutter.header_end);
    put("\n.visible .const .align 4 .b8 " + result_.plan + "[32];\n");
    for (const Function& function : cutter.functions) rewrite(function);
    copy_to(text_.size());
    result_.text = std::move(out_);
    return std::move(result_);
  }

 private:
  DelayedPtx refuse(const char* why) {
    result_.why = why;
    return std::move(result_);
  }
  void copy_to(std::size_t end) {
    out_.append(text_.substr(done_, end - done_));
    done_ = end;
  }
  void put(const std::string& code) { out_ += code; }
  /// `code` with "$" for the prefix of our names.
  void emit(std::string_view code) {
    for (const char c : code)
      c == '$' ? static_cast<void>(out_ += prefix_) : static_cast<void>(out_ += c);
  }

  void rewrite(const Function& function) {
    copy_to(function.open);
    if (function.is_entry && !function.is_limited && threads_ > 0)
      put(".maxntid " + std::to_string(threads_) + ", 1, 1\n");
    const std::vector<bool> sites = sites_of(function);
    const std::vector<std::size_t> splits = splits_of(function);
    bool begun = false;
    std::size_t next_split = 0;
    for (std::size_t i = 0; i < function.pieces.size(); ++i) {
      const Piece& piece = function.pieces[i];
      if (!begun && piece.what != Piece::What::declaration) {
        copy_to(piece.begin);
        prologue(function.is_entry);
        begun = true;
      }
      if (next_split < splits.size() && splits[next_split] == i) {
        const std::size_t last = splits[next_split + 1];
        copy_to(piece.begin);
        const std::size_t begin = out_.size();
        for (; i < last; ++i) delayed(function.pieces[i], sites[i]);
        delayed(function.pieces[last], sites[last]);
        copy_to(function.pieces[last].end);
        split(begin);
        next_split += 2;
        continue;
      }
      delayed(piece, sites[i]);
    }
  }

  void delayed(const Piece& piece, bool is_site) {
    if (!is_site) return;
    const Kind kind = kind_of(piece.word);
    if (kind != Kind::wait) copy_to(piece.begin), site(kind == Kind::global_write);
    if ((kind == Kind::wait || kind == Kind::wait_arrive) && !piece.guarded)
      copy_to(piece.end), site(false);
  }

  /// By piece: whether a warp may be slow there. Runs of accesses of one kind are one place.
  static std::vector<bool> sites_of(const Function& function) {
    std::vector<bool> sites(function.pieces.size(), false);
    std::vector<std::size_t> accesses;
    std::size_t count = 0;
    Kind last = Kind::other;
    for (std::size_t i = 0; i < function.pieces.size(); ++i) {
      const Piece& piece = function.pieces[i];
      if (piece.what == Piece::What::label) last = Kind::other;
      if (piece.what != Piece::What::instruction) continue;
      const Kind kind = kind_of(piece.word);
      if (kind == Kind::other) continue;
      const bool is_access = kind == Kind::shared_read || kind == Kind::shared_write ||
                             kind == Kind::global_read || kind == Kind::global_write;
      if (is_access && kind != last) accesses.push_back(i);
      if (kind == Kind::wait || kind == Kind::wait_arrive || (kind == Kind::arrive && kind != last))
        sites[i] = true, ++count;
      if (kind != Kind::together) last = kind;
    }
    const std::size_t room = kMostSites > count ? kMostSites - count : 0;
    const std::size_t step = room == 0 ? accesses.size() + 1 : (accesses.size() + room - 1) / room;
    for (std::size_t a = 0; a < accesses.size(); a += std::max<std::size_t>(1, step))
      sites[accesses[a]] = room > 0;
    return sites;
  }

  /// First and last pieces of the stretches that lanes may run one half after the other: straight
  /// code that writes shared memory and reads it, or global memory, in either order, without
  /// anything that lanes do together.
  static std::vector<std::size_t> splits_of(const Function& function) {
    std::vector<std::size_t> out;
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::size_t first = kNone, last = kNone, count = 0;
    bool reads[2]{}, writes[2]{};  // shared, global
    const auto flush = [&] {
      const bool passes = (reads[0] && writes[0]) || (reads[1] && writes[1]);
      if (passes && out.size() < 2 * kMostSplits) out.push_back(first), out.push_back(last);
      first = last = kNone;
      count = 0;
      reads[0] = reads[1] = writes[0] = writes[1] = false;
    };
    for (std::size_t i = 0; i < function.pieces.size(); ++i) {
      const Piece& piece = function.pieces[i];
      const Kind kind = kind_of(piece.word);
      const bool plain =
          piece.what == Piece::What::instruction && piece.depth == 1 &&
          !is_collective(piece.word) &&
          (kind == Kind::other || kind == Kind::shared_read || kind == Kind::shared_write ||
           kind == Kind::global_read || kind == Kind::global_write);
      if (!plain || count == kMostSplitInstructions) flush();
      if (!plain) continue;
      ++count;
      // What is read through the read-only path is written by no thread.
      const bool global =
          kind == Kind::global_write || (kind == Kind::global_read && !has_part(piece.word, "nc"));
      const bool passes = global || kind == Kind::shared_read || kind == Kind::shared_write;
      if (!passes) continue;
      if (first == kNone) first = i;
      last = i;
      const bool is_write = kind == Kind::shared_write || kind == Kind::global_write;
      (is_write ? writes : reads)[global ? 1 : 0] = true;
    }
    flush();
    return out;
  }

  /// A random number of the warp and the place; the fewer times are left, the fewer places are
  /// slow.
  void site(bool is_write) {
    ++result_.sites;
    if (is_write) {
      const std::string number = std::to_string(result_.sites);
      result_.writes.push_back(static_cast<std::uint32_t>(result_.sites));
      emit("\n\tld.const.u32 %$u, [$plan+28];\n\tsetp.eq.and.u32 %$p, %$u, " + number +
           ", %$q;\n\tsetp.ne.and.u32 %$q, %$u, " + number +
           ", %$q;\n\tmov.u32 %$u, 1000000;\n\t@%$p nanosleep.u32 %$u;");
    }
    emit("\n\txor.b32 %$t, %$s, " +
         std::to_string(mixed(static_cast<std::uint32_t>(result_.sites) * 0x9e3779b9U)) +
         ";\n\tmul.lo.u32 %$t, %$t, 2654435769;"
         "\n\tshr.u32 %$u, %$t, 26;"
         "\n\tsetp.lt.u32 %$p, %$u, %$r;"
         "\n\tand.b32 %$u, %$t, 8191;"
         "\n\tor.b32 %$u, %$u, 1024;"
         "\n\tld.const.u32 %$v, [$plan+24];"
         "\n\tshl.b32 %$u, %$u, %$v;"
         "\n\t@%$p sub.u32 %$r, %$r, 1;"
         "\n\t@%$p nanosleep.u32 %$u;\n\t");
  }

  /// What was written from `begin` on runs for one half of the lanes, and after a while for the
  /// other, c times.
  void split(std::size_t begin) {
    const std::string number = std::to_string(result_.splits++);
    const std::string stretch = out_.substr(begin);
    out_.resize(begin);
    emit(
        "\n\tsetp.ne.u32 %$p, %$c, 0;\n\t@%$p sub.u32 %$c, %$c, 1;"
        "\n\tld.const.u32 %$t, [$plan+20];\n\tmov.u32 %$u, %laneid;\n\tbfe.u32 %$v, %$t, 1, "
        "5;\n\tand.b32 %$u, %$u, %$v;\n\tpopc.b32 %$u, %$u;\n\txor.b32 %$u, %$u, %$t;"
        "\n\tand.b32 %$u, %$u, 1;\n\tsetp.ne.and.u32 %$p, %$u, 0, %$p;\n\t@%$p bra $second" +
        number + ";\n\t");
    out_ += stretch;
    emit("\n\tbra $joined" + number + ";\n$second" + number +
         ":\n\tmov.u32 %$u, 2048;\n\tnanosleep.u32 %$u;\n\t");
    out_ += stretch;
    emit("\n$joined" + number + ":\n\t");
  }

  /// The thread's own numbers: s, a hash of plan, block and warp; q, whether the warp is slow; r,
  /// how slow at any place; c, how often its lanes part.
  void prologue(bool is_entry) {
    emit(
        "\n\t.reg .b32 %$s, %$r, %$t, %$u, %$v, %$c;\n\t.reg .pred %$p, %$q;"
        "\n\tmov.u32 %$s, %ctaid.x;\n\tmul.lo.u32 %$s, %$s, 2654435769;"
        "\n\tmov.u32 %$t, %ctaid.y;\n\tmad.lo.u32 %$s, %$t, 2246822519, %$s;"
        "\n\tmov.u32 %$t, %ctaid.z;\n\tmad.lo.u32 %$s, %$t, 3266489917, %$s;"
        "\n\tld.const.u32 %$t, [$plan];\n\tadd.u32 %$s, %$s, %$t;");
    mix();
    emit(
        "\n\tshr.u32 %$t, %$s, 16;\n\tld.const.u32 %$u, [$plan+12];\n\tsetp.lt.u32 %$q, %$t, %$u;");
    if (is_entry) {
      emit(
          "\n\tshl.b32 %$u, %$s, 3;\n\tld.const.u32 %$t, [$plan+16];\n\tand.b32 %$u, %$u, "
          "%$t;\n\tsetp.ne.and.u32 %$p, %$t, 0, %$q;\n\t@%$p nanosleep.u32 %$u;");
    }
    emit(
        "\n\tmov.u32 %$t, %tid.z;\n\tmov.u32 %$u, %ntid.y;\n\tmov.u32 %$v, %tid.y;\n\tmad.lo.u32 "
        "%$t, %$t, %$u, %$v;"
        "\n\tmov.u32 %$u, %ntid.x;\n\tmov.u32 %$v, %tid.x;\n\tmad.lo.u32 %$t, %$t, %$u, "
        "%$v;\n\tshr.u32 %$t, %$t, 5;"
        "\n\tmad.lo.u32 %$s, %$t, 2654435769, %$s;");
    if (!is_entry) emit("\n\tmov.u32 %$t, %clock;\n\txor.b32 %$s, %$s, %$t;");
    mix();
    // A function may be called in a loop: it is slow in one call of 64.
    if (!is_entry) emit("\n\tshr.u32 %$t, %$s, 26;\n\tsetp.eq.and.u32 %$q, %$t, 0, %$q;");
    emit("\n\tld.const.u32 %$t, [$plan+20];\n\tshr.u32 %$t, %$t, 6;\n\tselp.u32 %$c, %$t, 0, %$q;");
    emit(
        "\n\tand.b32 %$t, %$s, 255;\n\tld.const.u32 %$u, [$plan+4];\n\tsetp.lt.and.u32 %$q, %$t, "
        "%$u, %$q;"
        "\n\tshr.u32 %$t, %$s, 8;\n\tld.const.u32 %$u, [$plan+8];\n\tand.b32 %$t, %$t, "
        "%$u;\n\tadd.u32 %$t, %$t, 1;\n\tselp.u32 %$r, %$t, 0, %$q;"
        "\n\tld.const.u32 %$u, [$plan+28];\n\tsetp.ne.u32 %$p, %$u, 0;\n\t@%$p mov.u32 %$r, "
        "0;\n\t");
  }

  void mix() {
    emit(
        "\n\tshr.u32 %$t, %$s, 15;\n\txor.b32 %$s, %$s, %$t;\n\tmul.lo.u32 %$s, %$s, "
        "2221713035;\n\tshr.u32 %$t, %$s, 16;\n\txor.b32 %$s, %$s, %$t;");
  }

  std::string_view text_;
  std::int64_t threads_;
  std::string prefix_;
  std::string out_;
  std::size_t done_ = 0;
  DelayedPtx result_;
};

}  // namespace

DelayedPtx delay_ptx(std::string_view ptx, std::int64_t threads) {
  return Rewriter(ptx, threads).rewrite();
}

}  // namespace warpath::cuda
