#include "moves/tiles/tile_kernel.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/device_limits.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "moves/tiles/contraction_parts.h"
#include "moves/tiles/contraction_summand.h"
#include "moves/tiles/tile_launch.h"
#include "moves/tiles/tile_stage.h"

namespace warpath {
namespace {

constexpr std::int64_t kRegistersOf64 = 128;  // of a thread with 64 outputs
constexpr std::int64_t kBoundedThreads = 256;
constexpr std::int64_t kPack = 4;  // bytes of one dot product

bool divides(std::optional<std::int64_t> size, std::int64_t by) {
  return size && *size % by == 0;
}

class TileWriter {
 public:
  TileWriter(const MoveContext& context, const Contraction& c, const TileShape& s, std::string& why)
      : context_(context),
        c_(c),
        s_(s),
        why_(why),
        unit_(model::parse(context.spec, context.variant)),
        w_(model::indent_unit(unit_)) {}

  std::optional<Variant> write() {
    if (!plan()) return std::nullopt;
    w_.lines(c_.uniform_prologue(""));
    for (const std::string& guard : c_.guards) w_.line("if (!(" + guard + ")) return;");
    write_constants();
    write_positions();
    write_loop();
    write_epilogue();
    Variant out = context_.variant;
    // 64 outputs a thread fit 128 registers; left alone, the compiler takes more and halves the
    // threads at work. Smaller blocks load more a thread: the bound would make them spill.
    const std::int64_t registers =
        s_.tm * s_.tn == 64 && s_.threads() >= kBoundedThreads ? kRegistersOf64 : 0;
    const std::int64_t blocks =
        registers == 0 ? 0 : kMultiprocessorRegisters / (registers * s_.threads());
    out.source = with_body(context_, c_, w_.text(), s_.threads(), blocks);
    set_tile_launch(out.launch, c_, s_.bm, s_.bn, s_.threads());
    return out;
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }
  std::string fresh(std::string_view wish) { return model::fresh_name(unit_, wish, &taken_); }

  bool plan() {
    const std::int64_t threads = s_.threads();
    if (s_.bm % s_.tm != 0 || s_.bn % s_.tn != 0)
      return fail("a thread's outputs do not divide the tile");
    if (threads < kWarp ||
        threads > std::min<std::int64_t>(kMaxThreads, context_.device.max_threads_per_block) ||
        threads % kWarp != 0) {
      return fail("the tile takes " + number(threads) + " threads");
    }
    dot_ = is_byte(c_.a.value_type) && c_.a.value_type == c_.b.value_type &&
           c_.a.value == c_.a.load && c_.b.value == c_.b.load && c_.accumulator_type == "int";
    unsigned_dot_ = dot_ && c_.a.value_type[0] == 'u';
    if (dot_ && s_.bk % kPack != 0)
      return fail("the step along k is no multiple of " + number(kPack));
    tile_type_ = dot_ || is_byte(c_.a.value_type) ? "int" : c_.a.value_type;
    if (!dot_ && c_.b.value_type != c_.a.value_type)
      return fail("the factors have different types");
    for (std::string* name : {&bm_,    &bn_,     &bk_, &tm_,     &tn_,     &threads_, &tid_,
                              &acc_,   &buffer_, &kk_, &step_m_, &step_n_, &tile_m_,  &tile_n_,
                              &a_reg_, &b_reg_,  &e_,  &i_,      &j_,      &u_}) {
      *name = fresh(*name);
    }
    k0_ = fresh(c_.k + "0");
    a_ = stage(c_.a, c_.m, bm_, s_.bm, "a");
    b_ = stage(c_.b, c_.n, bn_, s_.bn, "b");
    if (a_.vector == 0 || b_.vector == 0)
      return fail("the threads do not share the loads of a tile evenly");
    choose_warps();
    const std::int64_t element = tile_type_ == "double" ? 8 : 4;
    const std::int64_t rows = dot_ ? s_.bk / kPack : s_.bk;
    const std::int64_t bytes = element * rows * s_.stages *
                               (s_.bm + s_.bn + (a_.packed_k ? 4 : 0) + (b_.packed_k ? 4 : 0));
    if (bytes > kStaticSmemBytes)
      return fail("the tiles take " + number(bytes) + " bytes of shared memory");
    if (s_.tm * s_.tn > 256) return fail("a thread has no registers for its outputs");
    return true;
  }

  TileStage stage(const ContractionOperand& operand,
                  const ContractionAxis& axis,
                  const std::string& outer,
                  std::int64_t width,
                  const std::string& letter) {
    TileStage out;
    out.operand = &operand, out.axis = &axis;
    out.outer = outer, out.width = width;
    out.outer_block = fresh(axis.name + "0");
    out.tile = fresh(letter + "_tile"), out.next = fresh(letter + "_next");
    out.loads = fresh(letter == "a" ? "A_LOADS" : "B_LOADS");
    out.packed_k = operand.k_contiguous;
    const std::string around = operand.value_prefix + operand.value_suffix;
    const bool fixed_form = !mentions_name(around, axis.name) && !mentions_name(around, c_.k) &&
                            c_.prologue_for(around, "").empty();
    out.vector = 0;
    const std::int64_t most =
        s_.vector && fixed_form && (operand.k_contiguous || operand.outer_contiguous)
            ? operand.vector
            : 1;
    for (std::int64_t v = std::max<std::int64_t>(most, 1); v >= 1; v /= 2) {
      const bool fits = v == 1 || (out.packed_k ? s_.bk : width) % v == 0;
      if (dot_ && v < kPack && v > 1) continue;
      const std::int64_t pieces = width * s_.bk / (dot_ ? std::max(v, kPack) : v);
      if (fits && pieces % s_.threads() == 0 && (!dot_ || v == 1 || out.packed_k)) {
        out.vector = v;
        break;
      }
    }
    out.access_type = out.vector > 1
                          ? wide_type(out.vector * static_cast<std::int64_t>(operand.element_bytes),
                                      operand.element)
                          : tile_type_;
    const bool in_k = divides(c_.k_size, s_.bk);
    const bool in_outer = divides(axis.size, width) && !(c_.groups && &axis == &c_.m);
    out.guarded = !in_k || !in_outer;
    const std::string outer_end = end_of(axis);
    if (!in_outer) out.condition = axis.name + " < " + outer_end;
    if (!in_k) out.condition += (out.condition.empty() ? "" : " && ") + c_.k + " < " + c_.k_extent;
    out.pitch = out.packed_k ? outer + " + 4" : outer;
    return out;
  }

  std::string end_of(const ContractionAxis& axis) {
    if (!c_.groups || &axis != &c_.m) return axis.extent;
    if (group_end_.empty()) group_end_ = fresh(c_.m.name + "_end");
    return group_end_;
  }

  void choose_warps() {
    const std::int64_t across_m = s_.bm / s_.tm, across_n = s_.bn / s_.tn;
    lanes_n_ = 0;
    for (const std::int64_t lanes : {4, 8, 2, 16, 1, 32}) {
      if (s_.warp_tile && across_n % lanes == 0 && across_m % (kWarp / lanes) == 0) {
        lanes_n_ = lanes;
        break;
      }
    }
    chunk_m_ = std::min<std::int64_t>(s_.tm, tile_type_ == "double" ? 2 : 4);
    chunk_n_ = std::min<std::int64_t>(s_.tn, tile_type_ == "double" ? 2 : 4);
  }

  void write_constants() {
    w_.line("constexpr int " + bm_ + " = " + number(s_.bm) + ", " + bn_ + " = " + number(s_.bn) +
            ", " + bk_ + " = " + number(s_.bk) + ";  // tile of a block, step along " + c_.k);
    w_.line("constexpr int " + tm_ + " = " + number(s_.tm) + ", " + tn_ + " = " + number(s_.tn) +
            ";  // outputs of a thread");
    w_.line("constexpr int " + threads_ + " = (" + bm_ + " / " + tm_ + ") * (" + bn_ + " / " + tn_ +
            ");");
    for (const TileStage* t : {&a_, &b_}) {
      const std::int64_t piece = dot_ ? std::max(t->vector, kPack) : t->vector;
      const std::string by = piece == 1 ? "" : " / " + number(piece);
      w_.line("constexpr int " + t->loads + " = " + bk_ + " * " + t->outer + by + " / " + threads_ +
              ";");
    }
    const std::string rows = dot_ ? bk_ + " / 4" : bk_;
    const std::string buffers = s_.stages > 1 ? "[2]" : "";
    for (const TileStage* t : {&a_, &b_}) {
      w_.line("alignas(16) __shared__ " + tile_type_ + " " + t->tile + buffers + "[" + rows + "][" +
              t->pitch + "];");
    }
  }

  void write_positions() {
    w_.line("");
    w_.line("int " + tid_ + " = threadIdx.x;");
    const auto block_axis = [](std::size_t axis) {
      return "blockIdx." + std::string(1, "xyz"[axis]);
    };
    if (c_.groups) {
      write_group_search(w_, c_,
                         {.tile = fresh("tile"),
                          .tiles = fresh("tiles"),
                          .first = fresh(c_.m.name + "_first"),
                          .begin = a_.outer_block,
                          .end = group_end_},
                         bm_);
    } else {
      w_.line(c_.m.type + " " + a_.outer_block + " = " + block_axis(c_.m_grid_axis) + " * " + bm_ +
              ";");
    }
    w_.line(c_.n.type + " " + b_.outer_block + " = " + block_axis(c_.n_grid_axis) + " * " + bn_ +
            ";");
    if (lanes_n_ == 0) {
      w_.line("int " + tile_m_ + " = " + tid_ + " / (" + bn_ + " / " + tn_ + ") * " +
              number(chunk_m_) + ";  // first output of the thread in the tile");
      w_.line("int " + tile_n_ + " = " + tid_ + " % (" + bn_ + " / " + tn_ + ") * " +
              number(chunk_n_) + ";");
      write_steps(s_.bm, s_.bn);
    } else {
      const std::int64_t warp_m = kWarp / lanes_n_ * s_.tm, warp_n = lanes_n_ * s_.tn;
      w_.line("// A warp makes " + number(warp_m) + " x " + number(warp_n) +
              " outputs; a thread's start at (" + tile_m_ + ", " + tile_n_ + ").");
      const std::string warps = "(" + bn_ + " / " + number(warp_n) + ")";
      const std::string warp = fresh("warp"), lane = fresh("lane");
      w_.line("int " + warp + " = " + tid_ + " / 32, " + lane + " = " + tid_ + " % 32;");
      w_.line("int " + tile_m_ + " = " + warp + " / " + warps + " * " + number(warp_m) + " + " +
              lane + " / " + number(lanes_n_) + " * " + number(chunk_m_) + ";");
      w_.line("int " + tile_n_ + " = " + warp + " % " + warps + " * " + number(warp_n) + " + " +
              lane + " % " + number(lanes_n_) + " * " + number(chunk_n_) + ";");
      write_steps(warp_m, warp_n);
    }
    w_.line("");
    const bool zero = c_.initial == "0" || c_.initial == "0.0f" || c_.initial == "0.f" ||
                      c_.initial == "0.0" || c_.initial == "0u";
    w_.line(c_.accumulator_type + " " + acc_ + "[" + tm_ + "][" + tn_ + "]" +
            (zero ? " = {};" : ";"));
    if (!zero) {
      open_unrolled(i_, tm_);
      open_unrolled(j_, tn_);
      w_.line(acc_ + "[" + i_ + "][" + j_ + "] = " + c_.initial + ";");
      w_.close().close();
    }
  }

  void write_steps(std::int64_t span_m, std::int64_t span_n) {
    if (s_.tm > chunk_m_)
      w_.line("constexpr int " + step_m_ + " = " + number(span_m / (s_.tm / chunk_m_)) +
              ";  // between a thread's pieces of " + number(chunk_m_));
    if (s_.tn > chunk_n_)
      w_.line("constexpr int " + step_n_ + " = " + number(span_n / (s_.tn / chunk_n_)) + ";");
  }

  void open_unrolled(const std::string& index, const std::string& end, std::int64_t step = 1) {
    w_.line("#pragma unroll");
    w_.open("for (int " + index + " = 0; " + index + " < " + end + "; " + index +
            (step == 1 ? "++" : " += " + number(step)) + ")");
  }

  void write_loop() {
    for (const TileStage* t : {&a_, &b_})
      w_.line(t->access_type + " " + t->next + "[" + t->loads + "];");
    const std::string header = "for (" + c_.k_type + " " + k0_ + " = 0; " + k0_ + " < " +
                               c_.k_extent + "; " + k0_ + " += " + bk_ + ")";
    if (s_.stages == 1) {
      w_.open(header);
      write_loads(k0_);
      write_stores("");
      w_.line("__syncthreads();");
      write_products("");
      w_.line("__syncthreads();");
      w_.close();
      return;
    }
    w_.line(
        "// The next step's elements are on their way to registers while this step's are used.");
    write_loads("0");
    write_stores("[0]");
    w_.line("__syncthreads();");
    w_.line("int " + buffer_ + " = 0;");
    w_.open(header);
    w_.open("if (" + k0_ + " + " + bk_ + " < " + c_.k_extent + ")");
    write_loads(k0_ + " + " + bk_);
    w_.close();
    write_products("[" + buffer_ + "]");
    w_.line(buffer_ + " ^= 1;");
    w_.open("if (" + k0_ + " + " + bk_ + " < " + c_.k_extent + ")");
    write_stores("[" + buffer_ + "]");
    w_.close();
    w_.line("__syncthreads();");
    w_.close();
  }

  /// Where piece `i` of the thread lies in the tile: "e / BM" and "e % BM", k first.
  [[nodiscard]] std::array<std::string, 2> place(const TileStage& t) const {
    const std::string inner = t.packed_k ? bk_ : t.outer;
    const std::string major = e_ + " / " + inner, minor = e_ + " % " + inner;
    return t.packed_k ? std::array{minor, major} : std::array{major, minor};
  }

  void open_pieces(const TileStage& t) {
    open_unrolled(i_, t.loads);
    const std::int64_t piece = dot_ ? std::max(t.vector, kPack) : t.vector;
    const std::string flat = i_ + " * " + threads_ + " + " + tid_;
    // Four k values of one row, not four rows, make a word of a dot product.
    const bool words = dot_ && !t.packed_k;
    if (words) {
      w_.line("int " + e_ + " = " + flat + ";");
    } else {
      w_.line("int " + e_ + " = " + (piece == 1 ? flat : "(" + flat + ") * " + number(piece)) +
              ";");
    }
  }

  void write_loads(const std::string& k0) {
    for (const TileStage* t : {&a_, &b_}) {
      open_pieces(*t);
      const auto [in_k, in_outer] = place(*t);
      const std::string outer =
          t->axis->type + " " + t->axis->name + " = " + t->outer_block + " + " + in_outer + ";";
      const std::string target = t->next + "[" + i_ + "]";
      if (dot_ && t->vector == 1) {
        w_.line(outer);
        w_.line(target + " = 0;");
        open_unrolled(u_, "4");
        w_.line(c_.k_type + " " + c_.k + " = " + k0 + " + " +
                (t->packed_k ? in_k : "(" + in_k + ") * 4") + " + " + u_ + ";");
        w_.lines(c_.prologue_for(t->operand->load, ""));
        const std::string update =
            target + " |= (" + t->operand->load + " & 0xff) << (8 * " + u_ + ");";
        w_.line(t->guarded ? "if (" + t->condition + ") " + update : update);
        w_.close();
      } else {
        w_.line(c_.k_type + " " + c_.k + " = " + (k0 == "0" ? "" : k0 + " + ") + in_k + ";");
        w_.line(outer);
        w_.lines(c_.prologue_for(t->operand->value, ""));
        if (t->vector > 1) {
          const std::string load =
              "*reinterpret_cast<const " + t->access_type + "*>(&" + t->operand->load + ");";
          if (t->guarded) w_.line(target + " = {};");
          w_.line((t->guarded ? "if (" + t->condition + ") " : "") + target + " = " + load);
        } else if (t->guarded) {
          w_.line(target + " = " + t->condition + " ? " + t->operand->value + " : " +
                  (tile_type_ == "float" ? "0.0f" : "0") + ";");
        } else {
          w_.line(target + " = " + t->operand->value + ";");
        }
      }
      w_.close();
    }
  }

  void write_stores(const std::string& buffer) {
    for (const TileStage* t : {&a_, &b_}) {
      open_pieces(*t);
      const auto [in_k, in_outer] = place(*t);
      const ContractionOperand& o = *t->operand;
      const std::string from = t->next + "[" + i_ + "]";
      const std::string tile = t->tile + buffer;
      const bool converts = o.value != o.load || o.element != tile_type_;
      if (dot_ && t->vector == 1) {
        w_.line(tile + "[" + in_k + (t->packed_k ? " / 4" : "") + "][" + in_outer + "] = " + from +
                ";");
      } else if (dot_) {
        w_.line("const int* " + words_ + " = reinterpret_cast<const int*>(&" + from + ");");
        open_unrolled(u_, number(t->vector / kPack));
        w_.line(tile + "[" + in_k + " / 4 + " + u_ + "][" + in_outer + "] = " + words_ + "[" + u_ +
                "];");
        w_.close();
      } else if (t->vector == 1) {
        w_.line(tile + "[" + in_k + "][" + in_outer + "] = " + from + ";");
      } else if (!t->packed_k && !converts) {
        w_.line("*reinterpret_cast<" + t->access_type + "*>(&" + tile + "[" + in_k + "][" +
                in_outer + "]) = " + from + ";");
      } else {
        w_.line("const " + o.element + "* " + words_ + " = reinterpret_cast<const " + o.element +
                "*>(&" + from + ");");
        open_unrolled(u_, number(t->vector));
        const std::string place = t->packed_k ? "[" + in_k + " + " + u_ + "][" + in_outer + "]"
                                              : "[" + in_k + "][" + in_outer + " + " + u_ + "]";
        w_.line(tile + place + " = " + o.value_prefix + words_ + "[" + u_ + "]" + o.value_suffix +
                ";");
        w_.close();
      }
      w_.close();
    }
  }

  [[nodiscard]] std::string piece(const std::string& index,
                                  std::int64_t count,
                                  std::int64_t chunk,
                                  const std::string& step) const {
    if (count <= chunk) return count == 1 ? "" : " + " + index;
    return " + " + index + " / " + number(chunk) + " * " + step + " + " + index + " % " +
           number(chunk);
  }

  void write_products(const std::string& buffer) {
    open_unrolled(kk_, dot_ ? bk_ + " / 4" : bk_);
    w_.line(tile_type_ + " " + a_reg_ + "[" + tm_ + "], " + b_reg_ + "[" + tn_ + "];");
    w_.line("#pragma unroll");
    w_.line("for (int " + i_ + " = 0; " + i_ + " < " + tm_ + "; " + i_ + "++) " + a_reg_ + "[" +
            i_ + "] = " + a_.tile + buffer + "[" + kk_ + "][" + tile_m_ +
            piece(i_, s_.tm, chunk_m_, step_m_) + "];");
    w_.line("#pragma unroll");
    w_.line("for (int " + j_ + " = 0; " + j_ + " < " + tn_ + "; " + j_ + "++) " + b_reg_ + "[" +
            j_ + "] = " + b_.tile + buffer + "[" + kk_ + "][" + tile_n_ +
            piece(j_, s_.tn, chunk_n_, step_n_) + "];");
    open_unrolled(i_, tm_);
    open_unrolled(j_, tn_);
    const std::string target = acc_ + "[" + i_ + "][" + j_ + "]";
    const std::string a = a_reg_ + "[" + i_ + "]", b = b_reg_ + "[" + j_ + "]";
    if (dot_) {
      const std::string u = unsigned_dot_ ? "(unsigned int)" : "";
      w_.line(target + " = __dp4a(" + u + a + ", " + u + b + ", " + u + target + ");");
    } else {
      w_.line(target + " += " + with_factors(c_.product, a, b) + ";");
    }
    w_.close().close().close();
  }

  void write_epilogue() {
    w_.line("");
    open_unrolled(i_, tm_);
    w_.line(c_.m.type + " " + c_.m.name + " = " + a_.outer_block + " + " + tile_m_ +
            piece(i_, s_.tm, chunk_m_, step_m_) + ";");
    std::string condition;
    if (!divides(c_.m.size, s_.bm) || c_.groups) condition = c_.m.name + " < " + end_of(c_.m);
    if (!divides(c_.n.size, s_.bn))
      condition += (condition.empty() ? "" : " && ") + c_.n.name + " < " + c_.n.extent;
    const std::int64_t wide =
        s_.vector && !c_.output.empty() ? std::min<std::int64_t>(c_.output_vector, chunk_n_) : 1;
    const std::int64_t bytes =
        wide * static_cast<std::int64_t>(model::size_of_type(c_.output_element));
    if (wide > 1 && bytes >= 4) {
      write_wide_stores(condition, wide, bytes);
    } else {
      open_unrolled(j_, tn_);
      w_.line(c_.n.type + " " + c_.n.name + " = " + b_.outer_block + " + " + tile_n_ +
              piece(j_, s_.tn, chunk_n_, step_n_) + ";");
      if (!condition.empty()) w_.open("if (" + condition + ")");
      w_.line(c_.accumulator_type + " " + c_.accumulator + " = " + acc_ + "[" + i_ + "][" + j_ +
              "];");
      w_.lines(c_.prologue_for(c_.epilogue, ""));
      w_.lines(c_.epilogue);
      if (!condition.empty()) w_.close();
      w_.close();
    }
    w_.close();
  }

  void write_wide_stores(const std::string& condition, std::int64_t wide, std::int64_t bytes) {
    const std::string out = fresh("out"), type = wide_type(bytes, c_.output_element),
                      first = fresh(c_.n.name + "_first");
    open_unrolled(j_, tn_, wide);
    std::string offset = piece(j_, s_.tn, chunk_n_, step_n_);
    w_.line(c_.n.type + " " + first + " = " + b_.outer_block + " + " + tile_n_ + offset + ";");
    if (!condition.empty()) w_.open("if (" + replace_name(condition, c_.n.name, first) + ")");
    w_.line("alignas(16) " + c_.output_element + " " + out + "[" + number(wide) + "];");
    open_unrolled(u_, number(wide));
    const std::string values = c_.output_before + "\n" + c_.output_value;
    const std::string needs = c_.prologue_for(values, "");
    if (mentions_name(values + "\n" + needs, c_.n.name))
      w_.line(c_.n.type + " " + c_.n.name + " = " + first + " + " + u_ + ";");
    w_.line(c_.accumulator_type + " " + c_.accumulator + " = " + acc_ + "[" + i_ + "][" + j_ +
            " + " + u_ + "];");
    w_.lines(needs);
    w_.lines(c_.output_before);
    w_.line(out + "[" + u_ + "] = " + c_.output_value + ";");
    w_.close();
    w_.lines(replace_name(c_.prologue_for(c_.output_index, ""), c_.n.name, first));
    w_.line("*reinterpret_cast<" + type + "*>(&" + c_.output + "[" +
            replace_name(c_.output_index, c_.n.name, first) + "]) = *reinterpret_cast<const " +
            type + "*>(" + out + ");");
    if (!condition.empty()) w_.close();
    w_.close();
  }

  const MoveContext& context_;
  const Contraction& c_;
  const TileShape& s_;
  std::string& why_;
  model::Unit unit_;
  CodeWriter w_;
  std::set<std::string, std::less<>> taken_;
  TileStage a_, b_;
  bool dot_ = false, unsigned_dot_ = false;
  std::string tile_type_, k0_, group_end_;
  std::string bm_ = "BM", bn_ = "BN", bk_ = "BK", tm_ = "TM", tn_ = "TN", threads_ = "THREADS",
              tid_ = "tid", acc_ = "acc", buffer_ = "buffer";
  std::string kk_ = "kk", step_m_ = "STEP_M", step_n_ = "STEP_N", tile_m_ = "tile_m",
              tile_n_ = "tile_n", a_reg_ = "a_reg", b_reg_ = "b_reg";
  std::string e_ = "e", i_ = "i", j_ = "j", u_ = "u", words_ = "packed";
  std::int64_t lanes_n_ = 0, chunk_m_ = 1, chunk_n_ = 1;
};

}  // namespace

std::optional<Variant> tiled_variant(const MoveContext& context,
                                     const Contraction& contraction,
                                     const TileShape& shape,
                                     std::string& why) {
  return TileWriter(context, contraction, shape, why).write();
}

}  // namespace warpath
