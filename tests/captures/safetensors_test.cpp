#include <draftproof/captures/safetensors.hpp>

#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using namespace hostile;

bool any_array(std::string_view) { return true; }
const std::string six_raw_floats = raw(std::vector<float>{0, 1, 2, 3, 4, 5});
const std::string good_header =
    R"({"__metadata__":{"values":"logit"},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
    R"("a":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";

TEST(SafetensorsFile, ReadsArraysInTheOrderOfTheirData) {
  const TemporaryDirectory directory;
  const auto file = directory.write("x.safetensors", safetensors(good_header + "   ", six_raw_floats));
  const Safetensors read = read_safetensors(file, any_array);
  ASSERT_EQ(read.arrays.size(), 2u);
  EXPECT_EQ(read.arrays[0].first, "b");
  EXPECT_EQ(read.arrays[0].second.as_double(3), 3);
  EXPECT_EQ(read.arrays[1].second.as_double(1), 5);
  EXPECT_EQ(read.metadata["values"], "logit");
}

TEST(SafetensorsFile, SkipsWhatIsNotWanted) {
  const TemporaryDirectory directory;
  const std::string header = R"({"x":{"dtype":"F8_E4M3","shape":[16],"data_offsets":[0,16]},)"
                             R"("a":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";
  const auto file = directory.write("x.safetensors", safetensors(header, six_raw_floats));
  const Safetensors read = read_safetensors(file, [](std::string_view name) { return name == "a"; });
  ASSERT_EQ(read.arrays.size(), 1u);
  EXPECT_EQ(read.arrays[0].second.as_double(0), 4);
  expect_input_error([&] { read_safetensors(file, any_array); }, {"x.safetensors", "x: ", "F8_E4M3"});
}

TEST(SafetensorsFile, RefusesHeadersThatLie) {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::string& header, const std::string& part) {
    const auto file = directory.write("lie.safetensors", safetensors(header, six_raw_floats));
    expect_input_error([&] { read_safetensors(file, any_array); }, {"lie.safetensors", part});
  };
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  refused(one("F32", "[7]", "[0,24]"), "wanted 28 bytes");
  refused(one("F64", "[6]", "[0,24]"), "wanted 48 bytes");
  refused(one("F32", "[4611686018427387904,8]", "[0,24]"), "at most");
  refused(one("F32", "[4611686018427387904,4]", "[0,0]"), "at most");
  refused(one("F32", "[7]", "[0,28]"), "range within 24");
  refused(one("F32", "[6]", "[24,0]"), "range within 24");
  refused(one("F32", "[6]", "[0,99999999999999999999]"), "no usable data_offsets");
  refused(one("F32", "[-6]", "[0,24]"), "no usable shape");
  refused(one("F32", "[6.0]", "[0,24]"), "no usable shape");
  refused(one("F32", "6", "[0,24]"), "no usable shape");
  refused(one("F32", "[5]", "[4,24]"), "offset 0");
  refused(one("F32", "[5]", "[0,20]"), "24 bytes of data");
  refused(one("F32", "[6]", "[0,24,24]"), "data_offsets [0, 24, 24]");
  refused(R"({"a":{"dtype":"F32","shape":[6]}})", "another form");
  refused(R"({"a":7})", "another form");
  refused(
      R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"b":{"dtype":"F32","shape":[3],"data_offsets":[12,24]}})",
      "without overlap");
  refused(
      R"({"a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]},"a":{"dtype":"F32","shape":[6],"data_offsets":[0,24]}})",
      "twice");
  refused(R"({"__metadata__":{"x":1}})", "__metadata__");
}

TEST(SafetensorsFile, RefusesBadJson) {
  const TemporaryDirectory directory;
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100000; ++i) deep += '[';
  for (const std::string& header :
       {std::string("{"), std::string("[]"), std::string("7"), std::string(""), std::string("{\"a\":1e999}"),
        std::string("{\"\xFF\":1}"), std::string(8, '\0'), deep}) {
    const auto file = directory.write("json.safetensors", safetensors(header, six_raw_floats));
    expect_input_error([&] { read_safetensors(file, any_array); }, {"json.safetensors"});
  }
}

TEST(SafetensorsFile, RefusesHeaderLengthsBeyondTheFile) {
  const TemporaryDirectory directory;
  for (const std::uint64_t length : {std::uint64_t{1} << 20, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const auto file = directory.write("length.safetensors", little(length, 8) + good_header + six_raw_floats);
    expect_input_error([&] { read_safetensors(file, any_array); }, {"length.safetensors", "a header of"});
  }
}

TEST(SafetensorsFile, RefusesEveryTruncation) {
  const TemporaryDirectory directory;
  const std::string good = safetensors(good_header, six_raw_floats);
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto file = directory.write("cut.safetensors", good.substr(0, length));
    expect_input_error([&] { read_safetensors(file, any_array); }, {"cut.safetensors"});
  }
}

}  // namespace
}  // namespace draftproof
