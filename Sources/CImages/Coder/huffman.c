// Construction of Huffman codes (T.81 annexes K.2 and C).

#include <string.h>

#include "internal.h"

enum {
  /// The maximum length of a code.
  max_code_length = 16,
  /// All symbols, and the one that reserves the code of all ones.
  max_leaves = 257
};

/// A symbol and the number of its occurrences.
typedef struct {
  uint64_t count;
  int symbol;
} leaf;

/// Collects the symbols that occur, by increasing count. The first one reserves the code of all ones.
static int sorted_leaves(const uint32_t *counts, int symbols, leaf *leaves) {
  int found = 1;
  leaves[0] = (leaf){1, -1};
  for (int symbol = symbols - 1; symbol >= 0; symbol--) {
    if (!counts[symbol]) { continue; }
    int at = found++;
    while (at > 1 && leaves[at - 1].count > counts[symbol]) {
      leaves[at] = leaves[at - 1];
      at--;
    }
    leaves[at] = (leaf){counts[symbol], symbol};
  }
  return found;
}

/// Counts the leaves at each depth of a Huffman tree; returns the largest depth.
///
/// The leaves are sorted and inner nodes are created by increasing weight, so the two lightest are always at the front
/// of one of two queues. On equal weights a leaf is taken before an inner node, which makes the longest codes shorter.
static int count_depths(const leaf *leaves, int leaf_count, int *depth_counts) {
  uint64_t weights[max_leaves];
  int leaf_parents[max_leaves], node_parents[max_leaves], depths[max_leaves];
  int next_leaf = 0, next_node = 0, nodes = 0;
  for (; nodes < leaf_count - 1; nodes++) {
    weights[nodes] = 0;
    for (int child = 0; child < 2; child++) {
      if (next_leaf < leaf_count && (next_node == nodes || leaves[next_leaf].count <= weights[next_node])) {
        weights[nodes] += leaves[next_leaf].count;
        leaf_parents[next_leaf++] = nodes;
      } else {
        weights[nodes] += weights[next_node];
        node_parents[next_node++] = nodes;
      }
    }
  }
  int deepest = 0;
  depths[nodes - 1] = 0;
  for (int node = nodes - 2; node >= 0; node--) { depths[node] = depths[node_parents[node]] + 1; }
  for (int index = 0; index < leaf_count; index++) {
    int depth = depths[leaf_parents[index]] + 1;
    depth_counts[depth]++;
    deepest = depth > deepest ? depth : deepest;
  }
  return deepest;
}

void cjpegcoder_huffman_build(cjpegcoder_huffman *huffman, const uint32_t *counts, int symbols) {
  leaf leaves[max_leaves];
  int depth_counts[max_leaves + max_code_length] = {0};
  memset(huffman, 0, sizeof *huffman);
  int leaf_count = sorted_leaves(counts, symbols, leaves);
  huffman->symbol_count = leaf_count - 1;
  if (leaf_count < 2) { return; }

  // Figure K.3: of two codes that are too long, one becomes a bit shorter, and the other one and the longest code that
  // is shorter than both become the two extensions of that code.
  for (int depth = count_depths(leaves, leaf_count, depth_counts); depth > max_code_length; depth--) {
    while (depth_counts[depth] > 0) {
      int shorter = depth - 2;
      while (depth_counts[shorter] == 0) { shorter--; }
      depth_counts[depth] -= 2;
      depth_counts[depth - 1]++;
      depth_counts[shorter + 1] += 2;
      depth_counts[shorter]--;
    }
  }
  // The last of the longest codes would be all ones: it belongs to the reserved symbol and is removed.
  int longest = max_code_length;
  while (depth_counts[longest] == 0) { longest--; }
  depth_counts[longest]--;

  for (int length = 1; length <= max_code_length; length++) {
    huffman->length_counts[length] = (uint8_t)depth_counts[length];
  }
  for (int index = 0; index < huffman->symbol_count; index++) {
    huffman->symbols[index] = (uint8_t)leaves[leaf_count - 1 - index].symbol;
  }
}

void cjpegcoder_huffman_codes(const cjpegcoder_huffman *huffman, uint32_t *codes) {
  uint32_t code = 0;
  int index = 0;
  for (uint32_t length = 1; length <= max_code_length; length++) {
    for (int count = huffman->length_counts[length]; count > 0; count--) {
      codes[huffman->symbols[index++]] = code++ << 5 | length;
    }
    code <<= 1;
  }
}
