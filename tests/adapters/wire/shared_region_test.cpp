// The region is written by its host alone and keeps its size; a program maps what the message means, or says why not.
#include <draftproof/adapters/wire/shared_region.hpp>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <draftproof/adapters/wire/shared_rows.hpp>
#include <draftproof/tests/support/doors_messages.hpp>

namespace draftproof::adapters {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(SharedRegion, OnlyTheHostWritesAndNobodyCutsItOff) {
  SharedRegion region;
  const auto room = region.room(1000);
  ASSERT_EQ(room.size(), 1000u);
  std::memset(room.data(), 7, room.size());
  const int file = open(region.path().c_str(), O_RDWR | O_CLOEXEC);  // the same user may open it so
  ASSERT_GE(file, 0);
  EXPECT_EQ(ftruncate(file, 0), -1);
  EXPECT_EQ(ftruncate(file, static_cast<off_t>(2 * region.bytes())), -1);
  EXPECT_EQ(write(file, "x", 1), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), -1);  // nor keeps the host from writing
  EXPECT_EQ(mmap(nullptr, region.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
  void* const read = mmap(nullptr, region.bytes(), PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(read, MAP_FAILED);
  EXPECT_EQ(mprotect(read, region.bytes(), PROT_READ | PROT_WRITE), -1);
  std::memset(room.data(), 8, room.size());
  EXPECT_EQ(static_cast<const char*>(read)[999], 8);
  munmap(read, region.bytes());
  close(file);
}

TEST(SharedRegion, GrowsByDoublingIntoAnotherFile) {
  SharedRegion region;
  std::size_t bytes = 0;
  std::uint64_t inode = 0;
  for (const std::size_t size : {std::size_t{1}, mebibyte, mebibyte + 1, 3 * mebibyte, 20 * mebibyte, mebibyte}) {
    ASSERT_EQ(region.room(size).size(), size);
    const bool grew = region.bytes() != bytes;
    EXPECT_EQ(grew, region.inode() != inode);
    if (grew) {
      EXPECT_GE(region.bytes(), 2 * bytes);
    }
    bytes = region.bytes();
    inode = region.inode();
    EXPECT_TRUE(region.holds(region.room(size)));
  }
  EXPECT_EQ(bytes, 20 * mebibyte);
}

TEST(SharedRegion, MemoryThatIsNotThereIsRefusedAndTheRestWorks) {
  SharedRegion region;
  EXPECT_TRUE(region.room(std::size_t{1} << 60).empty());
  EXPECT_TRUE(region.room(std::size_t{1} << 61).empty());
  EXPECT_EQ(region.room(100).size(), 100u);
  const std::vector<std::byte> elsewhere(100);
  EXPECT_FALSE(region.holds(elsewhere));
  EXPECT_FALSE(region.holds({region.room(100).data() + 50, region.bytes()}));
}

/// p [2, 2, V] and q [2, 1, V] of numbers 0, 1, .. and drafts.
struct NumberedRows {
  std::vector<float> p, q;
  std::vector<std::int32_t> drafts{1, 2};
  Message message{.fields = {{"type", "verify"}}};

  explicit NumberedRows(std::uint64_t v) {
    for (std::uint64_t i = 0; i < 4 * v; ++i) p.push_back(static_cast<float>(i));
    for (std::uint64_t i = 0; i < 2 * v; ++i) q.push_back(static_cast<float>(2 * i));
    message.tensors = {tensor_of("p", {2, 2, v}, std::span<const float>(p)),
                       tensor_of("q", {2, 1, v}, std::span<const float>(q)),
                       tensor_of("drafts", {2, 1}, std::span<const std::int32_t>(drafts))};
  }
};

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(SharedRows, AreReadInPlaceAsTheyWere) {
  SharedRegion region;
  MappedRows mapped;
  for (const std::uint64_t v : {20'000u, 20'001u, 300'000u, 20'000u}) {
    const NumberedRows rows(v);
    Message sent;
    ASSERT_TRUE(share_rows(rows.message, region, sent));
    EXPECT_EQ(sent.tensors.size(), 1u);
    ASSERT_TRUE(mapped.add_to(sent));
    for (const Tensor& wanted : rows.message.tensors) {
      const Tensor* found = sent.find(wanted.name);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->shape, wanted.shape);
      EXPECT_EQ(found->dtype, wanted.dtype);
      EXPECT_TRUE(same_bytes(found->bytes, wanted.bytes));
      EXPECT_EQ(region.holds(found->bytes), false);  // another mapping of the same file
    }
    // Rows that lie in the region are not moved.
    Message again{.fields = rows.message.fields, .tensors = rows.message.tensors};
    const auto room = region.room(row_places(rows.p.size() * 4, rows.q.size() * 4).size);
    again.tensors[0].bytes = room.subspan(64, rows.p.size() * 4 - 64);
    again.tensors[0].shape = {(rows.p.size() * 4 - 64) / 4};
    again.tensors[1].bytes = room.first(rows.q.size() * 4);
    ASSERT_TRUE(share_rows(again, region, sent));
    EXPECT_EQ(sent.fields["shared"]["arrays"]["p"]["offset"], 64);
    EXPECT_EQ(sent.fields["shared"]["arrays"]["q"]["offset"], 0);
    again.tensors[1] = rows.message.tensors[1];  // one inside, one outside: a copy could overwrite the first
    EXPECT_FALSE(share_rows(again, region, sent));
  }
  Message small;
  EXPECT_FALSE(share_rows(NumberedRows(10).message, region, small));
}

TEST(SharedRows, AFieldThatIsWrongIsRefused) {
  SharedRegion region;
  const NumberedRows rows(20'000);
  Message sent;
  ASSERT_TRUE(share_rows(rows.message, region, sent));
  using json = nlohmann::json;
  const auto refusal = [&](auto change) {
    return error_of([&] {
      Message damaged{.fields = sent.fields};
      change(damaged.fields["shared"]);
      damaged.fields = json::parse(damaged.fields.dump());
      MappedRows mapped;
      try {
        mapped.add_to(damaged);
      } catch (const Unmapped& error) {
        throw DoorError(std::string("unmapped: ") + error.what());
      }
    });
  };
  const auto has = [&](auto change, const std::string& words) { expect_words(refusal(change), words); };
  EXPECT_EQ(refusal([](json&) {}), "none");
  has([](json& f) { f["inode"] = 1; }, "^unmapped: request: shared: path: /proc/");
  has([](json& f) { f["bytes"] = f["bytes"].get<std::uint64_t>() + 4096; }, "unmapped");
  has([](json& f) { f["bytes"] = 0; }, "unmapped");
  has([](json& f) { f["path"] = "/no/such/file"; }, "No such file or directory, wanted a file");
  has([](json& f) { f["path"] = 3; }, "wanted path, inode, bytes and arrays");
  has([](json& f) { f = 3; }, "wanted path, inode, bytes and arrays");
  has([](json& f) { f.erase("inode"); }, "inode: found {");
  has([](json& f) { f["arrays"]["p"] = 3; }, "arrays: p: found 3, wanted dtype, shape and offset");
  has([](json& f) { f["arrays"]["p"]["dtype"] = "F31"; }, "wanted a dtype F16");
  has([](json& f) { f["arrays"]["p"]["shape"] = {1 << 20, 1 << 20}; }, "wanted an array inside");
  has([](json& f) { f["arrays"]["p"]["offset"] = 1 << 30; }, "wanted an array inside");
  has([](json& f) { f["arrays"]["p"]["offset"] = UINT64_MAX; }, "wanted an array inside");
  has([](json& f) { f["arrays"]["p"]["offset"] = 2; }, "a multiple of an element");
  has([](json& f) { f["arrays"]["p"]["offset"] = -4; }, "offset: found {");
}

TEST(SharedRows, AHelloOfVersionOneDotOneDeclaresThem) {
  nlohmann::json hello{{"protocol", "draftproof-door"}, {"version", {1, 0}}, {"shared_memory", true}};
  EXPECT_FALSE(takes_shared_rows(hello));
  offer_shared_rows(hello);
  EXPECT_TRUE(takes_shared_rows(hello));
  hello["version"] = {1, 2};
  EXPECT_TRUE(takes_shared_rows(hello));
  hello["shared_memory"] = false;
  EXPECT_FALSE(takes_shared_rows(hello));
  hello["shared_memory"] = 1;
  EXPECT_THROW(takes_shared_rows(hello), DoorError);
  hello.erase("shared_memory");
  EXPECT_FALSE(takes_shared_rows(hello));
}

}  // namespace
}  // namespace draftproof::adapters
