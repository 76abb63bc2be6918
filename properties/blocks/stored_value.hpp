// Serialises the values in a checkpoint to bytes, and back to the same bits.
//
//   integers, enumerations   7 bits a byte, the lowest first; the eighth bit is set if another byte follows
//   numbers                  the bits of a double, as such an integer
//   counters                 their number and 64-bit integers; a run of zeros is a 0 and the number of further zeros
//   containers, text         their size and their elements
//   structs                  the members that `static auto fields(auto& value)` ties, in its order
//   instances, fractions     their text, which parses back to the same value
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace draftproof {

using Counters = std::vector<std::uint64_t>;

namespace detail {
template <class T>
concept WithFields = requires(T& value) {
  T::fields(value);
};
template <class T>
concept Parsed = requires(T value) {
  T::parse(value.text());
};
template <class T>
concept Fraction = requires(T value) {
  T(value.str());
};
template <class T>
concept Optional = requires(T value) {
  value.emplace();
  value.has_value();
};
}  // namespace detail

class StoredWriter {
 public:
  std::string bytes{};

  void integer(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }

  template <class T>
  void put(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      integer(std::bit_cast<std::uint64_t>(double{value}));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      integer(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
      integer(value.size());
      bytes += value;
    } else if constexpr (std::is_same_v<T, Counters>) {
      integer(value.size());
      for (std::size_t i = 0; i < value.size(); ++i) {
        integer(value[i]);
        if (value[i] != 0) continue;
        const std::size_t first = i;
        while (i + 1 < value.size() && value[i + 1] == 0) ++i;
        integer(i - first);
      }
    } else if constexpr (detail::WithFields<T>) {
      std::apply([this](const auto&... field) { (this->put(field), ...); }, T::fields(value));
    } else if constexpr (detail::Parsed<T>) {
      put(value.text());
    } else if constexpr (detail::Fraction<T>) {
      put(value.str());
    } else if constexpr (detail::Optional<T>) {
      put(value.has_value());
      if (value) put(*value);
    } else if constexpr (requires { value.second; }) {
      put(value.first), put(value.second);
    } else {
      integer(value.size());
      for (const auto& element : value) put(element);
    }
  }
};

class StoredReader {
 public:
  explicit StoredReader(std::string_view bytes) : left_{bytes} {}

  bool done() const { return left_.empty(); }

  /// Throws: std::out_of_range if the bytes end too early or a number has more than 64 bits.
  std::uint64_t integer() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(text(1).front());
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    throw std::out_of_range("a number of more than 64 bits");
  }

  template <class T>
  void get(T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(std::bit_cast<double>(integer()));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      value = static_cast<T>(integer());
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = text(integer());
    } else if constexpr (std::is_same_v<T, Counters>) {
      const std::uint64_t size = integer();
      value.clear();
      while (value.size() < size) {
        value.push_back(integer());
        if (value.back() != 0) continue;
        const std::uint64_t more = integer();
        if (more > size - value.size()) throw std::out_of_range("counters beyond their number");
        value.resize(value.size() + more);
      }
    } else if constexpr (detail::WithFields<T>) {
      std::apply([this](auto&... field) { (this->get(field), ...); }, T::fields(value));
    } else if constexpr (detail::Parsed<T>) {
      value = T::parse(stored<std::string>());
    } else if constexpr (detail::Fraction<T>) {
      value = T(stored<std::string>());
    } else if constexpr (detail::Optional<T>) {
      if (value.reset(); stored<bool>()) get(value.emplace());
    } else if constexpr (requires { value.second; }) {
      get(value.first), get(value.second);
    } else if constexpr (requires { typename T::mapped_type; }) {
      for (std::uint64_t left = integer(); left > 0; --left) {
        auto key = stored<typename T::key_type>();
        get(value[std::move(key)]);
      }
    } else {
      value.clear();
      for (std::uint64_t left = integer(); left > 0; --left) value.push_back(stored<typename T::value_type>());
    }
  }

  template <class T>
  T stored() {
    T value{};
    get(value);
    return value;
  }

 private:
  std::string_view text(std::uint64_t size) {
    if (size > left_.size()) throw std::out_of_range("bytes end too early");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
};

/// Serialises one value, and parses it back.
template <class T>
std::string to_bytes(const T& value) {
  StoredWriter writer;
  writer.put(value);
  return std::move(writer.bytes);
}
template <class T>
T from_bytes(std::string_view bytes) {
  return StoredReader(bytes).stored<T>();
}

/// Appends all counters in `counts` to `all`, field by field.
template <class T>
void append_counters(const T& counts, Counters& all) {
  if constexpr (std::is_integral_v<T>)
    all.push_back(counts);
  else if constexpr (detail::WithFields<T>)
    std::apply([&](const auto&... field) { (append_counters(field, all), ...); }, T::fields(counts));
  else
    for (const auto& count : counts) append_counters(count, all);
}
/// Adds the counters from `next` on to `counts`, field by field. Requires that at least as many counters follow
/// `next` as append_counters() appends for `counts`.
template <class T>
void add_counters(Counters::const_iterator& next, T& counts) {
  if constexpr (std::is_integral_v<T>)
    counts += *next++;
  else if constexpr (detail::WithFields<T>)
    std::apply([&](auto&... field) { (add_counters(next, field), ...); }, T::fields(counts));
  else
    for (auto& count : counts) add_counters(next, count);
}

}  // namespace draftproof
