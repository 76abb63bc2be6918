// Functions of registers.hpp with one source for both widths; each_width.hpp includes them for AVX2 and for AVX-512.
inline constexpr std::size_t floats = sizeof(Floats) / sizeof(float), doubles = sizeof(Doubles) / sizeof(double);

template <class To, class From>
DRAFTPROOF_PART To as(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To>(x);
}
template <class Register>
DRAFTPROOF_PART Register load(const void* from) {
  Register x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
/// Returns load() for a value with several uses, because g++ would otherwise read memory again for each use.
template <class Register>
DRAFTPROOF_PART Register load_once(const void* from) {
  auto x = load<Register>(from);
  asm("" : "+v"(x));
  return x;
}
template <class Register>
DRAFTPROOF_PART void store(void* to, Register x) {
  std::memcpy(to, &x, sizeof x);
}
