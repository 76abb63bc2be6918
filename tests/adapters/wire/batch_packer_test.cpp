#include <draftproof/adapters/wire/batch_packer.hpp>

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

namespace draftproof::adapters {
namespace {

const std::vector<double> a{0.5, 0.5, 0.0}, b{0.0, 0.25, 0.75}, c{1.0, 0.0, 0.0};

std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> result(bytes.size() / sizeof(float));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

std::vector<std::int32_t> list(std::span<const std::int32_t> values) { return {values.begin(), values.end()}; }

TEST(BatchPacker, RowsOfATreeArePaddedToTheLongest) {
  const std::vector<Input> inputs{{{a, b, c}, {a, a}, {1, 2}, {-1, -1}}, {{c}, {}, {}, {}}};
  const std::vector<Call> calls{{1, {0.5}}, {0, {0.25, 0.75}}};
  PackedBatch packed;
  pack_calls(inputs, calls, std::vector<std::size_t>{0, 1}, {.level = Level::tree}, packed);
  const ServedBatch& batch = packed.batch;
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.drafts_a_row, 2);
  EXPECT_EQ(batch.target_rows, 3);
  EXPECT_EQ(batch.proposal_rows, 2);
  EXPECT_EQ(list(batch.lengths), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(list(batch.drafts), (std::vector<std::int32_t>{-1, -1, 1, 2}));
  EXPECT_EQ(list(batch.parents), (std::vector<std::int32_t>{-1, -1, -1, -1}));
  EXPECT_EQ(std::vector(batch.tape.begin(), batch.tape.end()), (std::vector<double>{0.5, 0.0, 0.25, 0.75}));
  EXPECT_EQ(floats(batch.p), (std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0, 1, 0.5, 0.5, 0, 0, 0.25, 0.75, 1, 0, 0}));
  EXPECT_EQ(floats(batch.q), (std::vector<float>{0, 0, 1, 0, 0, 1, 0.5, 0.5, 0, 0.5, 0.5, 0}));
  EXPECT_NO_THROW(check_shapes(batch, WireFunction::verify, Level::tree, "test"));
  EXPECT_THROW(check_shapes(batch, WireFunction::verify, Level::chain, "test"), AdapterError);
}

TEST(BatchPacker, APositionHasOneTargetAndOneOrAllProposals) {
  for (const bool single : {true, false}) {
    std::vector<Input> inputs{{{a}, {b}, {1, 0}}};
    if (!single) inputs[0].q.push_back(c);
    PackedBatch packed;
    pack_calls(inputs, std::vector<Call>{{0, {}}}, std::vector<std::size_t>{0}, {.level = Level::position}, packed);
    EXPECT_EQ(packed.batch.target_rows, 1);
    EXPECT_EQ(packed.batch.proposal_rows, single ? 1 : 2);
    EXPECT_NO_THROW(check_shapes(packed.batch, WireFunction::verify, Level::position, "test"));
  }
}

TEST(BatchPacker, LogitsAndShortTypes) {
  const std::vector<Input> inputs{{{a}, {}, {}}};
  PackedBatch packed;
  pack_calls(inputs, std::vector<Call>{{0, {}}}, std::vector<std::size_t>{0}, {.kind = RowKind::logits}, packed);
  EXPECT_EQ(floats(packed.batch.p), (std::vector<float>{std::log(0.5f), std::log(0.5f), -INFINITY}));
  const std::vector<std::vector<std::uint16_t>> wanted{{0x3800, 0x3800, 0}, {0x3F00, 0x3F00, 0}};
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    pack_calls(inputs, std::vector<Call>{{0, {}}}, std::vector<std::size_t>{0}, {.dtype = dtype}, packed);
    ASSERT_EQ(packed.batch.p.size(), 6u);
    EXPECT_EQ(std::memcmp(packed.batch.p.data(), wanted[dtype == Dtype::bfloat16 ? 1 : 0].data(), 6), 0);
  }
}

TEST(BatchPacker, ASliceHasTheRowsOfTheBatch) {
  const std::vector<Input> inputs{{{a, b}, {c}, {1}}, {{b, c}, {a}, {2}}, {{c, a}, {b}, {0}}};
  const std::vector<Call> calls{{0, {0.1}}, {1, {0.2}}, {2, {0.3}}};
  PackedBatch all, one;
  pack_calls(inputs, calls, std::vector<std::size_t>{0, 1, 2}, {}, all);
  pack_calls(inputs, calls, std::vector<std::size_t>{1}, {}, one);
  const ServedBatch part = slice(all.batch, 1, 1);
  EXPECT_EQ(floats(part.p), floats(one.batch.p));
  EXPECT_EQ(floats(part.q), floats(one.batch.q));
  EXPECT_EQ(list(part.drafts), list(one.batch.drafts));
  EXPECT_EQ(part.tape[0], 0.2);
  EXPECT_EQ(part.rows, 1);
}

TEST(BatchPacker, RowsBeyondALengthAreDistributionsInUsedMemoryToo) {
  const std::vector<double> distribution(10, 0.25);
  std::vector<double> first(10), rotated(10);
  first.front() = rotated.back() = 1;
  const std::vector<Input> inputs{{{distribution, distribution, distribution}, {distribution, distribution}, {1, 2}},
                                  {{first}, {}, {}}};
  const std::vector<Call> calls{{0, {}}, {1, {}}};
  PackedBatch packed;
  pack_calls(inputs, calls, std::vector<std::size_t>{0, 0}, {}, packed);
  pack_calls(inputs, calls, std::vector<std::size_t>{1, 0}, {}, packed);
  const auto joined = [](std::initializer_list<const std::vector<double>*> rows) {
    std::vector<float> all;
    for (const std::vector<double>* row : rows) all.insert(all.end(), row->begin(), row->end());
    return all;
  };
  EXPECT_EQ(floats(packed.batch.p),
            joined({&first, &rotated, &rotated, &distribution, &distribution, &distribution}));
  EXPECT_EQ(floats(packed.batch.q), joined({&rotated, &rotated, &distribution, &distribution}));
}

}  // namespace
}  // namespace draftproof::adapters
