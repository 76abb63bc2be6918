#include <draftproof/captures/npz.hpp>

#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using namespace hostile;

bool all(std::string_view) { return true; }
const std::string good_npy = npy("<f4", "(2, 3)", raw(std::vector<float>{0, 1, 2, 3, 4, 5}));

TEST(Npz, RoundTripsStoredAndDeflated) {
  const TemporaryDirectory directory;
  const NamedArrays arrays{{"zeta", make_array<float>({2, 2}, std::vector<float>{1, 2, 3, 4})},
                           {"alpha", make_array<std::int64_t>({3}, std::vector<std::int64_t>{-1, 0, 1LL << 60})},
                           {"empty", make_array<double>({0, 7}, std::vector<double>{})}};
  for (const Compression compression : {Compression::Stored, Compression::Deflated}) {
    const auto file = directory / "x.npz";
    write_npz(file, arrays, compression);
    const NamedArrays read = read_npz(file, all);
    ASSERT_EQ(read.size(), arrays.size());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      EXPECT_EQ(read[k].first, arrays[k].first);
      EXPECT_EQ(read[k].second.dtype, arrays[k].second.dtype);
      EXPECT_EQ(read[k].second.shape, arrays[k].second.shape);
      EXPECT_EQ(read[k].second.bytes, arrays[k].second.bytes);
    }
  }
}

TEST(Npz, WritesTheSameBytesTwice) {
  const TemporaryDirectory directory;
  const NamedArrays arrays{{"a", make_array<float>({1}, std::vector<float>{1})}};
  write_npz(directory / "1.npz", arrays);
  write_npz(directory / "2.npz", arrays);
  EXPECT_EQ(read_all(directory / "1.npz"), read_all(directory / "2.npz"));
}

TEST(Npz, ReadsOnlyWhatIsWanted) {
  const TemporaryDirectory directory;
  const auto file =
      directory.write("x.npz", zip({{"a.npy", good_npy}, {"b.npy", "no array"}, {"notes.txt", "text"}}));
  EXPECT_EQ(read_npz(file, [](std::string_view name) { return name == "a"; }).size(), 1u);
  expect_input_error([&] { read_npz(file, all); }, {"x.npz", "b: ", "magic"});
}

TEST(Npz, RefusesDirectoriesThatLie) {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::vector<ZipEntry>& entries, const std::vector<std::string>& parts) {
    const auto file = directory.write("lie.npz", zip(entries));
    expect_input_error([&] { read_npz(file, all); }, parts);
  };
  refused({{"a.npy", good_npy, good_npy.size() + 4}}, {"lie.npz", "a: ", "sizes that fit"});
  refused({{"a.npy", good_npy, good_npy.size() - 4}}, {"lie.npz", "a: "});
  refused({{"a.npy", good_npy, 0xFFFFFFF0u, 8}}, {"lie.npz", "a: ", "4294967280 bytes", "sizes that fit"});
  refused({{"a.npy", good_npy, 1u << 16, 8}}, {"lie.npz", "a: "});
  refused({{"a.npy", good_npy, good_npy.size(), 12}}, {"lie.npz", "compression method 12"});
  refused({{"a.npy", good_npy, good_npy.size(), 0, 1}}, {"lie.npz", "a: ", "CRC"});
  refused({{"a.npy", good_npy}, {"a.npy", good_npy}}, {"lie.npz", "two entries named \"a.npy\""});
}

TEST(Npz, RefusesAnArrayShorterOrLongerThanItsHeader) {
  const TemporaryDirectory directory;
  for (const std::string shape : {"(2, 4)", "(1, 3)", "(4611686018427387904, 8)", "(1000000, 1000000)"}) {
    const std::string content = npy("<f4", shape, raw(std::vector<float>{0, 1, 2, 3, 4, 5}));
    const auto file = directory.write("x.npz", zip({{"target.npy", content}}));
    expect_input_error([&] { read_npz(file, all); }, {"x.npz", "target: found 24 bytes"});
  }
}

TEST(Npz, RefusesEveryTruncation) {
  const TemporaryDirectory directory;
  write_npz(directory / "x.npz", {{"a", make_array<float>({8}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8})}});
  for (const std::string& good : {zip({{"a.npy", good_npy}}), read_all(directory / "x.npz")})
    for (std::size_t length = 0; length < good.size(); ++length) {
      const auto file = directory.write("cut.npz", good.substr(0, length));
      expect_input_error([&] { read_npz(file, all); }, {"cut.npz"});
    }
}

TEST(Npz, ReportsWhatItCannotWrite) {
  const NamedArrays arrays{{"a", make_array<float>({1}, std::vector<float>{1})}};
  expect_input_error([&] { write_npz("/nonexistent/x.npz", arrays); }, {"/nonexistent/x.npz"});
}

}  // namespace
}  // namespace draftproof
