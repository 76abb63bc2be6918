#include <draftproof/captures/npy.hpp>

#include <bit>
#include <limits>

#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using namespace hostile;

const std::string six_floats = raw(std::vector<float>{0, 1, 2, 3, 4, 5});

TEST(Npy, ReadsEveryTypeAndVersion) {
  const TemporaryDirectory directory;
  const auto read = [&](const std::string& bytes) { return read_npy(directory.write("x.npy", bytes)); };
  const Array floats = read(npy("<f4", "(2, 3)", six_floats));
  EXPECT_EQ(floats.shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(floats.as_double(5), 5);
  EXPECT_EQ(read(npy("<f8", "(1,)", raw(std::vector{0.1}))).as_double(0), 0.1);
  EXPECT_EQ(read(npy("|i1", "(2,)", "\xFF\x7F")).as_integer(0), -1);
  EXPECT_EQ(read(npy("|u1", "(1,)", "\xFF")).as_integer(0), 255);
  EXPECT_EQ(read(npy("<i4", "(1,)", raw(std::vector<std::int32_t>{-7}))).as_integer(0), -7);
  EXPECT_EQ(read(npy("<i8", "()", raw(std::vector<std::int64_t>{1LL << 40}))).as_double(0), 1099511627776.0);
  EXPECT_EQ(read(npy("<f4", "(0, 5)", "")).size(), 0u);
  const std::string dict = "{\"shape\":(1,),'fortran_order':False,'descr':'<f4'}";
  const std::string version3 =
      std::string("\x93NUMPY\x03\x00", 8) + little(dict.size(), 4) + dict + six_floats.substr(4, 4);
  EXPECT_EQ(read(version3).as_double(0), 1);
}

TEST(Npy, HalfPrecisionIsExact) {
  const Array half{DType::F16, {5}, std::vector<std::byte>(10)};
  Array values = half;
  const std::uint16_t bits[5] = {0x3C00, 0xC000, 0x0001, 0x7BFF, 0xFC00};
  std::memcpy(values.bytes.data(), bits, sizeof bits);
  EXPECT_EQ(values.as_double(0), 1);
  EXPECT_EQ(values.as_double(1), -2);
  EXPECT_EQ(values.as_double(2), 0x1p-24);
  EXPECT_EQ(values.as_double(3), 65504);
  EXPECT_EQ(values.as_double(4), -std::numeric_limits<double>::infinity());
  values.dtype = DType::BF16;
  EXPECT_EQ(values.as_double(0), static_cast<double>(std::bit_cast<float>(0x3C000000u)));
}

TEST(Npy, HeaderRoundTrips) {
  const Array array = make_array<float>({3, 1}, std::vector<float>{1, 2, 3});
  const std::string header = npy_header(array);
  EXPECT_EQ(header.size() % 64, 0u);
  const NpyHeader parsed = parse_npy_dict(std::string_view(header).substr(10), "x", "");
  EXPECT_EQ(parsed.dtype, DType::F32);
  EXPECT_EQ(parsed.shape, (std::vector<std::uint64_t>{3, 1}));
}

TEST(Npy, RefusesHeadersThatLie) {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::string& bytes, const std::string& part) {
    const auto file = directory.write("lie.npy", bytes);
    expect_input_error([&] { read_npy(file); }, {"lie.npy", part});
  };
  refused(npy("<f4", "(2, 4)", six_floats), "wanted 32 bytes");
  refused(npy("<f4", "(1, 3)", six_floats), "wanted 12 bytes");
  refused(npy("<f8", "(2, 3)", six_floats), "wanted 48 bytes");
  refused(npy("<f4", "(4611686018427387904, 8)", six_floats), "at most");
  refused(npy("<f4", "(4294967296, 4294967296)", six_floats), "at most");
  refused(npy("<f4", "(9223372036854775807,)", six_floats), "at most");
  refused(npy("<f4", "(99999999999999999999,)", six_floats), "beyond 2^63");
  refused(npy("<f4", "(1000000000000,)", six_floats), "at most");
  refused(npy("<f4", "(-1, 3)", six_floats), "non-negative");
  refused(npy("<f4", "(" + std::string(99, '1') + ",)", six_floats), "beyond");
  std::string many = "(";
  for (int i = 0; i < 40; ++i) many += "1,";
  refused(npy("<f4", many + ")", six_floats), "32 dimensions");
}

TEST(Npy, RefusesTypesItCannotRead) {
  const TemporaryDirectory directory;
  for (const char* descr : {">f4", "|O", "<U10", "<c8", "<f16", "|V2", "f4", "", "<f4<f4"}) {
    const auto file = directory.write("type.npy", npy(descr, "(2, 3)", six_floats));
    expect_input_error([&] { read_npy(file); }, {"type.npy", "elements of type"});
  }
}

TEST(Npy, RefusesDictsOfAnotherForm) {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::string& dict, const std::string& part) {
    const auto file = directory.write("dict.npy", npy(dict, six_floats));
    expect_input_error([&] { read_npy(file); }, {"dict.npy", part});
  };
  refused("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran");
  refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}", "[('a'");
  refused("{'descr': '<f4', 'fortran_order': False}", "2 .npy header keys");
  refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", "twice");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 'y'}", "\"x\"");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} or exit()", "after the .npy header");
  refused("{'descr': '<f4", "open string");
  refused("", "\"{\"");
  refused("{'shape': (2 3)}", "\"3)}\"");
  refused("{'fortran_order': Falsy}", "False");
}

TEST(Npy, RefusesOtherMagicVersionAndLength) {
  const TemporaryDirectory directory;
  const std::string good = npy("<f4", "(2, 3)", six_floats);
  const auto refused = [&](std::size_t at, char byte, const std::string& part) {
    std::string bytes = good;
    bytes[at] = byte;
    const auto file = directory.write("start.npy", bytes);
    expect_input_error([&] { read_npy(file); }, {"start.npy", part});
  };
  refused(1, 'M', "magic");
  refused(6, 4, "version 4.0");
  refused(7, 1, "version 1.1");
  refused(9, '\x7F', "a header of");
}

TEST(Npy, RefusesEveryTruncationAndAnythingAppended) {
  const TemporaryDirectory directory;
  const std::string good = npy("<f4", "(2, 3)", six_floats);
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto file = directory.write("cut.npy", good.substr(0, length));
    expect_input_error([&] { read_npy(file); }, {"cut.npy"});
  }
  const auto longer = directory.write("longer.npy", good + '\0');
  expect_input_error([&] { read_npy(longer); }, {"longer.npy", "25 bytes"});
}

TEST(Npy, RefusesWhatIsNoFile) {
  const TemporaryDirectory directory;
  expect_input_error([&] { read_npy(directory / "none.npy"); }, {"none.npy", "no such file"});
  expect_input_error([&] { read_npy(directory / ""); }, {"something else than a file"});
}

}  // namespace
}  // namespace draftproof
