// Tests that model files with inconsistent headers are refused and that a valid file is read. The model has a few
// weights and is written byte by byte, with one error per file.
#include <cmath>
#include <functional>
#include <limits>

#include <draftproof/captures/path_source.hpp>
#include <draftproof/captures/philox_engine.hpp>
#include <draftproof/captures/tiny_lm.hpp>

#include <draftproof/tests/support/hostile.hpp>

namespace draftproof {
namespace {

using namespace hostile;

struct Fields {
  int version = 1, name_size = 4;
  int width = 4, hidden = 6, context = 256, vocabulary = 3, layers = 2, heads = 2, key_heads = 1;
  int shared = 1, piece_size = 1;
  float weight = 0.25f;  ///< the last weight
};

std::string number(int value) { return little(static_cast<std::uint32_t>(value), 4); }

std::string header(const Fields& f) {
  std::string bytes = little(static_cast<std::uint64_t>(f.version), 1) + number(f.name_size) + "tiny";
  for (const int field : {f.width, f.hidden, f.context, f.vocabulary, f.layers, f.heads, f.key_heads})
    bytes += number(field);
  bytes += little(static_cast<std::uint64_t>(f.shared), 1);
  bytes.resize(256, '\0');
  return bytes;
}

/// Returns a file whose tensors have the sizes of Fields{}, whatever sizes the header `f` states.
std::string model(const Fields& f = {}) {
  std::string bytes = header(f);
  for (int token = 0; token < 3; ++token)
    bytes += raw(std::vector<float>{0}) + number(f.piece_size) + std::string(1, static_cast<char>('a' + token));
  const int d = 4, ff = 6, kv = 2, layers = 2, v = 3;
  std::vector<float> weights;
  for (int i = 0; i < v * d + layers * (2 * d + 2 * d * d + 2 * kv * d + 3 * ff * d) + d; ++i)
    weights.push_back(static_cast<float>(i % 7 - 3) / 4);
  weights.back() = f.weight;
  return bytes + raw(weights);
}

TEST(TinyLm, ReadsASmallOne) {
  const TemporaryDirectory directory;
  const TinyLm read = TinyLm::open(directory.write("tiny.bin", model()));
  EXPECT_EQ(read.shape().key_width(), 2);
  EXPECT_EQ(read.piece(2), "c");
  StoryMemory first, second;
  read.read(1, {}, first);
  const StoryMemory* before[] = {&first};
  const std::vector<double> distribution = read.read(2, before, second);
  double sum = 0;
  for (const double value : distribution) sum += std::exp(value);
  // The sum has three terms near 1/3, each with an error of a few units in the last digit.
  EXPECT_NEAR(sum, 1, 0x1p-50);
  EXPECT_EQ(second.keys.size(), 4u);
}

TEST(TinyLm, RefusesHeadersThatLie) {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::function<void(Fields&)>& change, const std::vector<std::string>& parts) {
    Fields fields;
    change(fields);
    const auto file = directory.write("lie.bin", model(fields));
    expect_input_error([&] { TinyLm::open(file); }, parts);
  };
  refused([](Fields& f) { f.version = 2; }, {"lie.bin", "version 2"});
  refused([](Fields& f) { f.name_size = -1; }, {"name of -1 bytes"});
  refused([](Fields& f) { f.name_size = 1 << 30; }, {"name of 1073741824 bytes"});
  refused([](Fields& f) { f.width = 0; }, {"the size 0"});
  refused([](Fields& f) { f.hidden = -6; }, {"the size -6"});
  refused([](Fields& f) { f.vocabulary = 1 << 30; }, {"the size 1073741824"});
  refused([](Fields& f) { f.heads = 3; }, {"3 heads"});
  refused([](Fields& f) { f.key_heads = 3; }, {"groups"});
  refused([](Fields& f) { f.width = 1, f.heads = 1; }, {"1 heads of 1 for width 1"});
  refused([](Fields& f) { f.layers = 1 << 20; }, {"1048576 layers"});
  refused([](Fields& f) { f.piece_size = -2; }, {"piece of -2 bytes"});
  refused([](Fields& f) { f.piece_size = 5000; }, {"piece of 5000 bytes"});
  refused([](Fields& f) { f.width = f.hidden = 1 << 20; }, {"an end after"});
  refused([](Fields& f) { f.vocabulary = 1 << 20; }, {"lie.bin"});
  refused([](Fields& f) { f.layers = 1; }, {"bytes too many"});
  refused([](Fields& f) { f.shared = 0; }, {"an end after"});
  refused([](Fields& f) { f.weight = std::numeric_limits<float>::infinity(); }, {"the weight inf"});
  refused([](Fields& f) { f.weight = std::numeric_limits<float>::quiet_NaN(); }, {"nan"});
}

// The file has one token and norms of 2^20 columns; the matrix that its header announces next has 2^40 floats, four
// terabytes. The size of the file must be checked before memory is allocated.
TEST(TinyLm, RefusesMatricesBeyondTheFile) {
  const TemporaryDirectory directory;
  constexpr int wide = 1 << 20;
  std::string bytes = header({.width = wide, .vocabulary = 1, .layers = 1}) + number(0) + number(0);
  bytes.resize(bytes.size() + std::size_t{2} * wide * sizeof(float), '\0');
  const auto file = directory.write("wide.bin", bytes);
  expect_input_error([&] { TinyLm::open(file); }, {"wide.bin", "an end after"});
}

TEST(TinyLm, RefusesEveryTruncation) {
  const TemporaryDirectory directory;
  const std::string whole = model();
  for (std::size_t size = 0; size < whole.size(); size += size < 300 ? 1 : 37) {
    const auto file = directory.write("cut.bin", whole.substr(0, size));
    expect_input_error([&] { TinyLm::open(file); }, {"cut.bin"});
  }
  expect_input_error([&] { TinyLm::open(directory / "none.bin"); }, {"none.bin"});
}

TEST(TinyLm, ChangedBytesAreReadOrRefused) {
  const TemporaryDirectory directory;
  PhiloxEngine random(1, 0, 0);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = model();
    for (int change = 0; change < 3; ++change)
      bytes[static_cast<std::size_t>(random() % 320)] = static_cast<char>(random() % 256);
    const auto file = directory.write("changed.bin", bytes);
    try {
      StoryMemory memory;
      TinyLm::open(file).read(0, {}, memory);
    } catch (const InputError&) {
    }
  }
}

TEST(RunningModel, RefusesDraftsItDoesNotHave) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("tiny.bin", model()).string();
  EXPECT_EQ(open_running_model(file, {})->vocabulary(), 3);
  EXPECT_EQ(open_running_model(file + ":exit2", {})->vocabulary(), 3);
  for (const char* word : {"q1", "q9", "q", "q4x", "exit0", "exit3", "half", ""})
    expect_input_error([&] { open_running_model(file + ":" + word, {}); }, {"tiny.bin", "q2 to q8", "exit2"});
  Fields shallow;
  shallow.context = 100;
  const std::string other = directory.write("shallow.bin", model(shallow)).string();
  expect_input_error([&] { open_running_model(other, {}); },
                     {"shallow.bin", "a context of 100 tokens", "at least 135"});
}

// A text of the model has a maximal length. room() is the number of tokens that can follow a context; when it is 0,
// next() returns no_context.
TEST(RunningModel, EndsWhereTheModelDoes) {
  const TemporaryDirectory directory;
  const auto source = open_running_model(directory.write("tiny.bin", model()).string(), {});
  const auto conditionals = source->open();
  int context = conditionals->start(5);
  for (int room = conditionals->room(context); room > 0; --room) {
    ASSERT_EQ(conditionals->room(context), room);
    context = conditionals->next(context, 1);
    ASSERT_NE(context, StepContexts::no_context);
  }
  EXPECT_EQ(conditionals->room(context), 0);
  EXPECT_EQ(conditionals->next(context, 1), StepContexts::no_context);
}

}  // namespace
}  // namespace draftproof
