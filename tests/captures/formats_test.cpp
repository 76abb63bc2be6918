// Tests of the readers of .npy, .npz, .safetensors and JSON: every type is read, and a file whose header contradicts
// its data is refused with an error that names the file and the location.
#include <bit>
#include <limits>

#include <draftproof/captures/json_input.hpp>
#include <draftproof/captures/npz.hpp>
#include <draftproof/captures/safetensors.hpp>
#include <draftproof/tests/support/hostile.hpp>
#include <draftproof/tests/support/written_capture.hpp>

namespace draftproof {
namespace {

using namespace hostile;

const std::string six_floats = raw(std::vector<float>{0, 1, 2, 3, 4, 5});
bool any_array(std::string_view) { return true; }

/// Writes files to one temporary directory and reads them. The suffix of a file's name selects the reader.
class Files : public testing::Test {
 protected:
  void read(const std::filesystem::path& file) const {
    if (file.extension() == ".npy")
      read_npy(file);
    else if (file.extension() == ".npz")
      read_npz(file, any_array);
    else
      read_safetensors(file, any_array);
  }
  void refused(const std::string& name, const std::string& bytes, std::vector<std::string> parts = {}) const {
    const auto file = directory_.write(name, bytes);
    parts.push_back(name);
    expect_input_error([&] { read(file); }, parts);
  }
  void every_truncation_refused(const std::string& name, const std::string& good) const {
    for (std::size_t length = 0; length < good.size(); ++length) refused(name, good.substr(0, length));
  }

  TemporaryDirectory directory_;
};

class Npy : public Files {};

TEST_F(Npy, ReadsEveryTypeAndVersion) {
  const auto read_bytes = [&](const std::string& bytes) { return read_npy(directory_.write("x.npy", bytes)); };
  const Array floats = read_bytes(npy("<f4", "(2, 3)", six_floats));
  EXPECT_EQ(floats.shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(floats.as_double(5), 5);
  EXPECT_EQ(read_bytes(npy("<f8", "(1,)", raw(std::vector{0.1}))).as_double(0), 0.1);
  EXPECT_EQ(read_bytes(npy("|i1", "(2,)", "\xFF\x7F")).as_integer(0), -1);
  EXPECT_EQ(read_bytes(npy("|u1", "(1,)", "\xFF")).as_integer(0), 255);
  EXPECT_EQ(read_bytes(npy("<i4", "(1,)", raw(std::vector<std::int32_t>{-7}))).as_integer(0), -7);
  EXPECT_EQ(read_bytes(npy("<i8", "()", raw(std::vector<std::int64_t>{1LL << 40}))).as_double(0), 1099511627776.0);
  EXPECT_EQ(read_bytes(npy("<f4", "(0, 5)", "")).size(), 0u);
  const std::string dict = "{\"shape\":(1,),'fortran_order':False,'descr':'<f4'}";
  const std::string version3 =
      std::string("\x93NUMPY\x03\x00", 8) + little(dict.size(), 4) + dict + six_floats.substr(4, 4);
  EXPECT_EQ(read_bytes(version3).as_double(0), 1);
}

TEST_F(Npy, HalfPrecisionIsExact) {
  Array values{DType::F16, {5}, std::vector<std::byte>(10)};
  const std::uint16_t bits[5] = {0x3C00, 0xC000, 0x0001, 0x7BFF, 0xFC00};
  std::memcpy(values.bytes.data(), bits, sizeof bits);
  const double wanted[5] = {1, -2, 0x1p-24, 65504, -std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(values.as_double(i), wanted[i]);
  values.dtype = DType::BF16;
  EXPECT_EQ(values.as_double(0), static_cast<double>(std::bit_cast<float>(0x3C000000u)));
}

TEST_F(Npy, RefusesHeadersThatLie) {
  std::string many = "(";
  for (int i = 0; i < 40; ++i) many += "1,";
  const std::vector<std::pair<std::string, std::string>> shapes{{"(2, 4)", "expected 32 bytes"},
                                                                {"(1, 3)", "expected 12 bytes"},
                                                                {"(4611686018427387904, 8)", "at most"},
                                                                {"(4294967296, 4294967296)", "at most"},
                                                                {"(9223372036854775807,)", "at most"},
                                                                {"(99999999999999999999,)", "beyond 2^63"},
                                                                {"(1000000000000,)", "at most"},
                                                                {"(-1, 3)", "non-negative"},
                                                                {"(" + std::string(99, '1') + ",)", "beyond"},
                                                                {many + ")", "32 dimensions"}};
  for (const auto& [shape, part] : shapes) refused("lie.npy", npy("<f4", shape, six_floats), {part});
  refused("lie.npy", npy("<f8", "(2, 3)", six_floats), {"expected 48 bytes"});
  for (const char* descr : {">f4", "|O", "<U10", "<c8", "<f16", "|V2", "f4", "", "<f4<f4"})
    refused("type.npy", npy(descr, "(2, 3)", six_floats), {"elements of type"});
}

TEST_F(Npy, RefusesDictsOfAnotherForm) {
  const std::string before = "{'descr': '<f4', 'fortran_order': False, ";
  const std::vector<std::pair<std::string, std::string>> dicts{
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}", "[('a'"},
      {"{'descr': '<f4', 'fortran_order': False}", "2 .npy header keys"},
      {before + "'descr': '<f4', 'shape': (2, 3)}", "twice"},
      {before + "'shape': (2, 3), 'x': 'y'}", "\"x\""},
      {before + "'shape': (2, 3)} or exit()", "after the .npy header"},
      {"{'descr': '<f4", "open string"},
      {"", "\"{\""},
      {"{'shape': (2 3)}", "\"3)}\""},
      {"{'fortran_order': Falsy}", "False"}};
  for (const auto& [dict, part] : dicts) refused("dict.npy", npy(dict, six_floats), {part});
}

TEST_F(Npy, RefusesOtherMagicVersionAndLength) {
  const std::string good = npy("<f4", "(2, 3)", six_floats);
  for (const auto& [at, byte, part] : {std::tuple(1u, 'M', "magic"), std::tuple(6u, '\4', "version 4.0"),
                                       std::tuple(7u, '\1', "version 1.1"), std::tuple(9u, '\x7F', "a header of")}) {
    std::string bytes = good;
    bytes[at] = byte;
    refused("start.npy", bytes, {part});
  }
  every_truncation_refused("cut.npy", good);
  refused("longer.npy", good + '\0', {"25 bytes"});
}

TEST_F(Npy, RefusesWhatIsNoFile) {
  expect_input_error([&] { read_npy(directory_ / "none.npy"); }, {"none.npy", "no such file"});
  expect_input_error([&] { read_npy(directory_ / ""); }, {"something that is not a regular file"});
}

class Npz : public Files {
 protected:
  const std::string good_npy_ = npy("<f4", "(2, 3)", six_floats);
};

TEST_F(Npz, ReadsStoredAndDeflatedEntries) {
  const NamedArrays arrays{{"zeta", make_array<float>({2, 2}, std::vector<float>{1, 2, 3, 4})},
                           {"alpha", make_array<std::int64_t>({3}, std::vector<std::int64_t>{-1, 0, 1LL << 60})},
                           {"empty", make_array<double>({0, 7}, std::vector<double>{})}};
  for (const Compression compression : {Compression::Stored, Compression::Deflated}) {
    write_npz(directory_ / "x.npz", arrays, compression);
    const NamedArrays read = read_npz(directory_ / "x.npz", any_array);
    ASSERT_EQ(read.size(), arrays.size());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      EXPECT_EQ(read[k].first, arrays[k].first);
      EXPECT_EQ(read[k].second.dtype, arrays[k].second.dtype);
      EXPECT_EQ(read[k].second.shape, arrays[k].second.shape);
      EXPECT_EQ(read[k].second.bytes, arrays[k].second.bytes);
    }
  }
}

TEST_F(Npz, ReadsOnlyWhatIsWanted) {
  const std::string bytes = zip({{"a.npy", good_npy_}, {"b.npy", "no array"}, {"notes.txt", "text"}});
  const auto file = directory_.write("x.npz", bytes);
  EXPECT_EQ(read_npz(file, [](std::string_view name) { return name == "a"; }).size(), 1u);
  refused("x.npz", bytes, {"b: ", "magic"});
}

TEST_F(Npz, RefusesDirectoriesThatLie) {
  const std::string& good = good_npy_;
  const std::vector<std::pair<std::vector<ZipEntry>, std::vector<std::string>>> lies{
      {{{"a.npy", good, good.size() + 4}}, {"a: ", "consistent sizes"}},
      {{{"a.npy", good, good.size() - 4}}, {"a: "}},
      {{{"a.npy", good, 0xFFFFFFF0u, 8}}, {"a: ", "4294967280 bytes", "consistent sizes"}},
      {{{"a.npy", good, 1u << 16, 8}}, {"a: "}},
      {{{"a.npy", good, good.size(), 12}}, {"compression method 12"}},
      {{{"a.npy", good, good.size(), 0, 1}}, {"a: ", "CRC"}},
      {{{"a.npy", good}, {"a.npy", good}}, {"two entries named \"a.npy\""}}};
  for (const auto& [entries, parts] : lies) refused("lie.npz", zip(entries), parts);
  for (const std::string shape : {"(2, 4)", "(1, 3)", "(4611686018427387904, 8)", "(1000000, 1000000)"})
    refused("x.npz", zip({{"target.npy", npy("<f4", shape, six_floats)}}), {"target: got 24 bytes"});
}

TEST_F(Npz, RefusesEveryTruncation) {
  write_npz(directory_ / "x.npz", {{"a", make_array<float>({8}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8})}});
  every_truncation_refused("cut.npz", zip({{"a.npy", good_npy_}}));
  every_truncation_refused("cut.npz", read_all(directory_ / "x.npz"));
}

class SafetensorsFile : public Files {
 protected:
  void refused_header(const std::string& header, const std::vector<std::string>& parts = {}) const {
    refused("lie.safetensors", safetensors(header, six_floats), parts);
  }

  const std::string good_header_ =
      R"({"__metadata__":{"values":"logit"},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("a":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";
};

TEST_F(SafetensorsFile, ReadsArraysInTheOrderOfTheirData) {
  const auto file = directory_.write("x.safetensors", safetensors(good_header_ + "   ", six_floats));
  const Safetensors read = read_safetensors(file, any_array);
  ASSERT_EQ(read.arrays.size(), 2u);
  EXPECT_EQ(read.arrays[0].first, "b");
  EXPECT_EQ(read.arrays[0].second.as_double(3), 3);
  EXPECT_EQ(read.arrays[1].second.as_double(1), 5);
  EXPECT_EQ(read.metadata["values"], "logit");
}

TEST_F(SafetensorsFile, SkipsWhatIsNotWanted) {
  const std::string bytes = safetensors(R"({"x":{"dtype":"F8_E4M3","shape":[16],"data_offsets":[0,16]},)"
                                        R"("a":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})",
                                        six_floats);
  const Safetensors read =
      read_safetensors(directory_.write("x.safetensors", bytes), [](std::string_view name) { return name == "a"; });
  ASSERT_EQ(read.arrays.size(), 1u);
  EXPECT_EQ(read.arrays[0].second.as_double(0), 4);
  refused("x.safetensors", bytes, {"x: ", "F8_E4M3"});
}

TEST_F(SafetensorsFile, RefusesHeadersThatLie) {
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  const std::vector<std::pair<std::string, std::string>> lies{
      {one("F32", "[7]", "[0,24]"), "expected 28 bytes"},
      {one("F64", "[6]", "[0,24]"), "expected 48 bytes"},
      {one("F32", "[4611686018427387904,8]", "[0,24]"), "at most"},
      {one("F32", "[4611686018427387904,4]", "[0,0]"), "at most"},
      {one("F32", "[7]", "[0,28]"), "range within 24"},
      {one("F32", "[6]", "[24,0]"), "range within 24"},
      {one("F32", "[6]", "[0,99999999999999999999]"), "no usable data_offsets"},
      {one("F32", "[-6]", "[0,24]"), "no usable shape"},
      {one("F32", "[6.0]", "[0,24]"), "no usable shape"},
      {one("F32", "6", "[0,24]"), "no usable shape"},
      {one("F32", "[5]", "[4,24]"), "offset 0"},
      {one("F32", "[5]", "[0,20]"), "24 bytes of data"},
      {one("F32", "[6]", "[0,24,24]"), "data_offsets [0, 24, 24]"},
      {R"({"a":{"dtype":"F32","shape":[6]}})", "a malformed header entry"},
      {R"({"a":7})", "a malformed header entry"},
      {R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},)"
       R"("b":{"dtype":"F32","shape":[3],"data_offsets":[12,24]}})",
       "without overlap"},
      {R"({"a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]},)"
       R"("a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]}})",
       "twice"},
      {R"({"__metadata__":{"x":1}})", "__metadata__"}};
  for (const auto& [header, part] : lies) refused_header(header, {part});
  const std::string deep = "{\"a\":" + std::string(100000, '[');
  for (const std::string& header :
       {std::string("{"), std::string("[]"), std::string("7"), std::string(""), std::string("{\"a\":1e999}"),
        std::string("{\"\xFF\":1}"), std::string(8, '\0'), deep})
    refused_header(header);
  for (const std::uint64_t length : {std::uint64_t{1} << 20, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    refused("length.safetensors", little(length, 8) + good_header_ + six_floats, {"a header of"});
  every_truncation_refused("cut.safetensors", safetensors(good_header_, six_floats));
}

TEST(JsonInput, BoundsNestingAndRefusesRepeatedKeysAndWhatIsNoObject) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  const auto refused = [](const std::string& text, const std::string& part) {
    expect_input_error([&] { parse_json_object(text, "x.json"); }, {"x.json", part});
  };
  EXPECT_NO_THROW(parse_json_object(nested(deepest_json - 1), "x.json"));
  refused(nested(deepest_json), "deeper than 64");
  refused(nested(1'000'000), "deeper than 64");
  EXPECT_NO_THROW(parse_json_object(R"({"a":{"b":1},"b":{"a":1}})", "x.json"));
  refused(R"({"c":{"a":1,"a":2}})", "\"a\" twice");
  refused("[1]", "x.json: got a JSON array");
  for (const char* text : {"{\"a\":", "", "{\"a\":\"\xC3\x28\"}"}) refused(text, "x.json: got no JSON");
}

}  // namespace
}  // namespace draftproof
