#pragma once

/// Makes the exported entry of a kernel from its own parameter types.

namespace warpath_entry_detail {

template <class T> struct Pointee { static constexpr unsigned bytes = sizeof(T); };
template <> struct Pointee<void> { static constexpr unsigned bytes = 0; };
template <> struct Pointee<const void> { static constexpr unsigned bytes = 0; };

template <class T>
constexpr WarpathParameterKind kind_of() {
  if (std::is_pointer<T>::value) return kWarpathPointer;
  if (std::is_same<T, bool>::value) return kWarpathBool;
  if (std::is_floating_point<T>::value) return kWarpathFloating;
  if (std::is_integral<T>::value) return std::is_signed<T>::value ? kWarpathSigned : kWarpathUnsigned;
  if (std::is_enum<T>::value) return kWarpathSigned;  // passed as the integer that it is
  if (std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value) return kWarpathHalf;
  return kWarpathOther;
}
template <class T>
constexpr WarpathParameter describe() {
  using P = typename std::remove_pointer<T>::type;
  return {kind_of<T>(), sizeof(T), std::is_pointer<T>::value ? Pointee<P>::bytes : 0u, std::is_const<P>::value ? 1 : 0};
}

template <size_t... I> struct Indices {};
template <size_t N, size_t... I> struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <size_t... I> struct MakeIndices<0, I...> { using type = Indices<I...>; };

template <class F, F f> struct Kernel;
template <class... P, void (*f)(P...)>
struct Kernel<void (*)(P...), f> {
  static constexpr WarpathParameter parameters[sizeof...(P) + 1] = {describe<typename std::remove_cv<P>::type>()..., {}};
  template <size_t... I>
  static inline void call([[maybe_unused]] void* const* arguments, Indices<I...>) {
    f(*static_cast<typename std::remove_cv<P>::type*>(arguments[I])...);
  }
  static void run_thread(void* const* arguments) { call(arguments, typename MakeIndices<sizeof...(P)>::type{}); }
  static void run_threads(void* const* arguments, const WarpathIndex* indices, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      warpath_thread.thread_index = indices[i];
      call(arguments, typename MakeIndices<sizeof...(P)>::type{});
    }
  }
  static constexpr WarpathEntry entry{sizeof...(P), parameters, &run_thread, &run_threads};
};

}  // namespace warpath_entry_detail

#define WARPATH_ENTRY(...) &warpath_entry_detail::Kernel<decltype(&__VA_ARGS__), &__VA_ARGS__>::entry
#define WARPATH_ENTRIES(...)                                                                                \
  extern "C" __attribute__((visibility("default"), used)) constexpr const WarpathEntry* warpath_entries[] = { \
      __VA_ARGS__, nullptr};
