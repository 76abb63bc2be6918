#include <draftproof/adapters/wire/message.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <draftproof/tests/support/adapters_messages.hpp>

namespace draftproof::adapters {
namespace {

struct Sample {
  std::vector<double> p{0.1, 1.0 / 3, 1e-300, 5e-324, -0.0, 1.0};
  std::vector<float> q{0.1f, 1.0f / 3, 1e-38f};
  std::vector<std::int32_t> tokens{1, -1, std::numeric_limits<std::int32_t>::min(), 2147483647};
  std::vector<std::int64_t> seeds{-1, std::numeric_limits<std::int64_t>::max()};
  std::vector<std::uint16_t> halves{0x3C00, 0x0001, 0x7BFF};
  Message message{.fields = {{"type", "sample"}, {"text", "\"a\" \n \xC3\xA9"}}};

  Sample() {
    message.tensors = {tensor_of("tokens", {2, 2}, std::span<const std::int32_t>(tokens)),
                       {"extra", DType::F16, {3}, std::as_bytes(std::span(halves))},
                       tensor_of("p", {1, 2, 3}, std::span<const double>(p)),
                       tensor_of("q", {3, 1, 1}, std::span<const float>(q)),
                       tensor_of("seeds", {2}, std::span<const std::int64_t>(seeds)),
                       tensor_of("tape", {2, 0}, std::span<const double>())};
  }
};

std::string frame_of(const Message& message) {
  const EncodedMessage encoded(message, Form::frames);
  std::string frame;
  for (const auto part : encoded.parts()) frame.append(reinterpret_cast<const char*>(part.data()), part.size());
  return frame;
}

/// Feeds `bytes` in pieces of at most `piece`; returns the number of bytes that the reader took.
std::size_t feed(MessageReader& reader, std::string_view bytes, std::size_t piece) {
  std::size_t fed = 0;
  while (!reader.complete() && fed < bytes.size()) {
    const auto room = reader.room();
    const std::size_t size = std::min({piece, room.size(), bytes.size() - fed});
    std::memcpy(room.data(), bytes.data() + fed, size);
    reader.filled(size);
    fed += size;
  }
  return fed;
}

constexpr ReplyLimit wide{1 << 20, 1 << 20};

TEST(Message, FramesComeBackToTheBitHoweverTheyAreCut) {
  const Sample sample;
  const std::string frame = frame_of(sample.message);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, frame.size()}) {
    MessageReader reader;
    for (int time = 0; time < 2; ++time) {
      reader.expect(wide, "reply");
      EXPECT_EQ(feed(reader, frame, piece), frame.size());
      ASSERT_TRUE(reader.complete());
      const Message read = reader.take();
      EXPECT_EQ(reader.form(), Form::frames);
      EXPECT_EQ(read.fields, sample.message.fields);
      EXPECT_TRUE(read.owned.empty());  // no copy
      ASSERT_EQ(read.tensors.size(), sample.message.tensors.size());
      for (const Tensor& wanted : sample.message.tensors) {
        const Tensor* found = read.find(wanted.name);
        ASSERT_NE(found, nullptr) << wanted.name;
        EXPECT_EQ(found->dtype, wanted.dtype);
        EXPECT_EQ(found->shape, wanted.shape);
        EXPECT_TRUE(std::equal(found->bytes.begin(), found->bytes.end(), wanted.bytes.begin(), wanted.bytes.end()));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(found->bytes.data()) % width(found->dtype), 0u);
      }
    }
  }
}

TEST(Message, LinesComeBackWithTheSameNumbers) {
  const Sample sample;
  const std::string line = encode_line(sample.message);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, line.size()}) {
    MessageReader reader;
    reader.expect(wide, "reply");
    EXPECT_EQ(feed(reader, line, piece), line.size());
    const Message read = reader.take();
    EXPECT_EQ(reader.form(), Form::lines);
    EXPECT_EQ(read.fields["text"], sample.message.fields["text"]);
    EXPECT_EQ(read.find("p")->shape, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(std::memcmp(read.find("p")->bytes.data(), sample.p.data(), 6 * sizeof(double)), 0);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(read.find("q")->as<double>()[i], static_cast<double>(sample.q[i]));
    const auto tokens = read.find("tokens")->as<std::int32_t>();
    EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), sample.tokens.begin(), sample.tokens.end()));
    const auto seeds = read.find("seeds")->as<std::int64_t>();
    EXPECT_TRUE(std::equal(seeds.begin(), seeds.end(), sample.seeds.begin(), sample.seeds.end()));
    EXPECT_EQ(read.find("tape")->shape, (std::vector<std::uint64_t>{2, 0}));
    EXPECT_EQ(read.fields["extra"].size(), 3u);  // "extra" is not an array of the protocol, so it stays a field.
    EXPECT_EQ(read.fields["extra"][1].get<double>(), 0x1p-24);
  }
}

TEST(Message, LinesCarryInfinitiesAndFillShortRows) {
  const std::vector<double> p{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), NAN};
  Message message;
  message.tensors = {tensor_of("p", {1, 1, 3}, std::span<const double>(p))};
  EXPECT_EQ(encode_line(message), "{\"p\":[[[1e999,-1e999,null]]]}\n");
  const Message read = decode_line(R"({"tokens": [[1], [], [2, 3]], "tape": [[0.5, null]]})", "reply");
  const auto tokens = read.find("tokens")->as<std::int32_t>();
  EXPECT_EQ(std::vector(tokens.begin(), tokens.end()), (std::vector<std::int32_t>{1, -1, -1, -1, 2, 3}));
  EXPECT_TRUE(std::isnan(read.find("tape")->as<double>()[1]));
}

TEST(Message, BadLinesAreRefusedWithPlaceFoundAndWanted) {
  const auto refused = [](const std::string& line, const std::string& words) {
    expect_error([&] { decode_line(line, "reply"); }, words);
  };
  refused("garbage", "no JSON");
  refused("[1]", "expected a JSON object");
  refused(R"({"tokens": [[0]], "weights": [NaN]})", "JSON has no NaN or infinity");
  refused(R"({"tokens": [[0]], "weights": [NaN]})", R"([NaN]}")");
  refused(R"({"tokens": [1, 2]})", "tokens: got \"1\", expected lists, 2 deep");
  refused(R"({"tokens": [[0, 1], [2, 1.5]]})", R"(tokens[1, 1]: got "1.5", expected whole numbers)");
  refused(R"({"tokens": [[1.5]]})", "expected whole numbers");
  refused(R"({"tokens": [[2147483648]]})", "32 bits");
  refused(R"({"seeds": [18446744073709551615]})", "expected whole numbers");
  refused(R"({"tape": [[1], [1, 2]]})", "expected 1 entries, as in the rows before");
  refused(R"({"tape": [["x"]]})", "expected a number");
  refused(R"({"tokens": [[[1]]]})", "expected whole numbers");
}

TEST(Message, TooMuchIsRefusedBeforeMemoryIsTaken) {
  const auto refused = [](const std::string& bytes, ReplyLimit most, const std::string& words) {
    MessageReader reader;
    reader.expect(most, "reply");
    expect_error([&] { feed(reader, bytes, 1 << 16); }, words);
  };
  refused(std::string(7, '\0') + '\x10', wide, "a frame of 1152921504606846976 bytes, expected at most 1048576");
  refused(std::string(8, '\0'), wide, "a frame of 0 bytes");
  refused(std::string(200000, 'x'), {0, 100000}, "more than 100000 bytes");
  MessageReader reader;
  reader.expect(wide, "hello");
  feed(reader, "{\"a\": 12}\nprinted", 1 << 16);
  reader.take();
  expect_error([&] { reader.expect(wide, "reply"); }, "got \"printed\" after");
}

TEST(Message, EveryTruncationAndRandomDamageIsAnErrorOrAMessage) {
  const std::string frame = frame_of(Sample().message).substr(8);
  const auto decode = [](std::string bytes) {
    // A copy of exact size, so that a sanitizer sees a read beyond it.
    const std::vector<std::byte> exact(reinterpret_cast<const std::byte*>(bytes.data()),
                                       reinterpret_cast<const std::byte*>(bytes.data()) + bytes.size());
    const Message read = decode_blob(exact, "reply");
    std::size_t sum = 0;
    for (const Tensor& tensor : read.tensors)
      for (const std::byte byte : tensor.bytes) sum += static_cast<std::size_t>(byte);
    return sum;
  };
  decode(frame);
  for (std::size_t size = 0; size < frame.size(); ++size) EXPECT_THROW(decode(frame.substr(0, size)), AdapterError);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = frame;
    for (int change = 0; change < 3; ++change) damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      decode(damaged);
    } catch (const AdapterError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace draftproof::adapters
