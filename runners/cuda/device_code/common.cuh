/// Shared by the harness's kernels: four elements at a time, and reduction in a fixed order.

namespace warpath::cuda {

using portable::Bits;
using portable::Half;
using portable::Word;

constexpr unsigned kThreads = 256;  ///< of every block that reduces
constexpr Word kNone = ~Word{0};

inline Word thread_index() {
  return Word{blockIdx.x} * blockDim.x + threadIdx.x;
}
inline Word thread_count() {
  return Word{gridDim.x} * blockDim.x;
}

/// Whether four elements behind `data` can be read at once.
inline bool is_aligned(const void* data, unsigned width) {
  const Word unit = width >= 4 ? 16 : 4 * width;
  return reinterpret_cast<Word>(data) % unit == 0;
}

inline Word load_one(const void* data, unsigned width, Word i) {
  switch (width) {
    case 8:
      return static_cast<const Word*>(data)[i];
    case 4:
      return static_cast<const Bits*>(data)[i];
    case 2:
      return static_cast<const Half*>(data)[i];
    default:
      return static_cast<const unsigned char*>(data)[i];
  }
}

inline void store_one(void* data, unsigned width, Word i, Word element) {
  switch (width) {
    case 8:
      static_cast<Word*>(data)[i] = element;
      break;
    case 4:
      static_cast<Bits*>(data)[i] = static_cast<Bits>(element);
      break;
    case 2:
      static_cast<Half*>(data)[i] = static_cast<Half>(element);
      break;
    default:
      static_cast<unsigned char*>(data)[i] = static_cast<unsigned char>(element);
  }
}

/// Elements i to i + 3 of `n`, i a multiple of 4; zeros beyond the end.
inline void load_four(const void* data, unsigned width, Word i, Word n, bool aligned, Word out[4]) {
  if (!aligned || i + 4 > n) {
    for (unsigned k = 0; k < 4; ++k) out[k] = i + k < n ? load_one(data, width, i + k) : 0;
    return;
  }
  const Word group = i / 4;
  if (width == 8) {
    const ulonglong2 a = static_cast<const ulonglong2*>(data)[2 * group];
    const ulonglong2 b = static_cast<const ulonglong2*>(data)[2 * group + 1];
    out[0] = a.x, out[1] = a.y, out[2] = b.x, out[3] = b.y;
  } else if (width == 4) {
    const uint4 a = static_cast<const uint4*>(data)[group];
    out[0] = a.x, out[1] = a.y, out[2] = a.z, out[3] = a.w;
  } else if (width == 2) {
    const ushort4 a = static_cast<const ushort4*>(data)[group];
    out[0] = a.x, out[1] = a.y, out[2] = a.z, out[3] = a.w;
  } else {
    const uchar4 a = static_cast<const uchar4*>(data)[group];
    out[0] = a.x, out[1] = a.y, out[2] = a.z, out[3] = a.w;
  }
}

/// The low bytes of each of `in` to elements i to i + 3 of `n`.
inline void store_four(void* data, unsigned width, Word i, Word n, bool aligned, const Word in[4]) {
  if (!aligned || i + 4 > n) {
    for (unsigned k = 0; k < 4; ++k) {
      if (i + k < n) store_one(data, width, i + k, in[k]);
    }
    return;
  }
  const Word group = i / 4;
  const auto bits = [in](unsigned k) { return static_cast<Bits>(in[k]); };
  if (width == 8) {
    static_cast<ulonglong2*>(data)[2 * group] = make_ulonglong2(in[0], in[1]);
    static_cast<ulonglong2*>(data)[2 * group + 1] = make_ulonglong2(in[2], in[3]);
  } else if (width == 4) {
    static_cast<uint4*>(data)[group] = make_uint4(bits(0), bits(1), bits(2), bits(3));
  } else if (width == 2) {
    const auto half = [in](unsigned k) { return static_cast<Half>(in[k]); };
    static_cast<ushort4*>(data)[group] = make_ushort4(half(0), half(1), half(2), half(3));
  } else {
    const auto byte = [in](unsigned k) { return static_cast<unsigned char>(in[k]); };
    static_cast<uchar4*>(data)[group] = make_uchar4(byte(0), byte(1), byte(2), byte(3));
  }
}

/// Moves the four one place down and puts `last` behind them: a loop that is not unrolled needs no
/// memory for them then.
inline void push(Word four[4], Word last) {
  four[0] = four[1], four[1] = four[2], four[2] = four[3], four[3] = last;
}

/// `record` of the lane `delta` above; records are whole words.
template <class Record>
inline Record from_lane_above(const Record& record, unsigned delta) {
  static_assert(sizeof(Record) % sizeof(Word) == 0, "whole words");
  struct Words {
    Word at[sizeof(Record) / sizeof(Word)];
  };
  Words words = __builtin_bit_cast(Words, record);
  for (Word& word : words.at) word = __shfl_down_sync(0xffffffffU, word, delta);
  return __builtin_bit_cast(Record, words);
}

/// merge(record of thread 0, of all others in a fixed order), in thread 0. All kThreads call.
template <class Record>
inline Record reduce_block(Record record) {
  __shared__ Record parts[kThreads / 32];
  for (unsigned delta = 16; delta > 0; delta /= 2) merge(record, from_lane_above(record, delta));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = record;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned k = 1; k < kThreads / 32; ++k) merge(record, parts[k]);
  }
  return record;
}

/// The same over `count` records of other blocks.
template <class Record>
inline Record reduce_parts(const Record* parts, unsigned count, Record record) {
  for (unsigned k = threadIdx.x; k < count; k += kThreads) merge(record, parts[k]);
  return reduce_block(record);
}

}  // namespace warpath::cuda
