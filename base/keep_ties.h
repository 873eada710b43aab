// Sorts and keeps the order of equal items, without a temporary buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace whorl {

// Sorts `items` by `key`, a member or a function of an item; equal ones stay in the order in which
// they stood. (std::stable_sort needs a temporary buffer, which it requests in a way that clang's
// library deprecates.)
template <typename Item, typename Key>
void SortKeepingTies(std::vector<Item>& items, Key key) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto& of_a = std::invoke(key, items[a]);
    const auto& of_b = std::invoke(key, items[b]);
    return of_a < of_b || (!(of_b < of_a) && a < b);
  });
  std::vector<Item> sorted;
  sorted.reserve(items.size());
  for (const size_t at : order) sorted.push_back(std::move(items[at]));
  items = std::move(sorted);
}

}  // namespace whorl
