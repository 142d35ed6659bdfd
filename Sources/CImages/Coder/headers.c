// Headers: everything in the file except the entropy-coded data of the scans (T.81 annex B).

#include <stdlib.h>
#include <string.h>

#include "internal.h"

/// The minimum capacity of a buffer.
enum { min_capacity = 4096 };

void cjpegcoder_free(cjpegcoder_buffer *buffer) {
  if (!buffer) { return; }
  free(buffer->bytes);
  *buffer = (cjpegcoder_buffer){NULL, 0, 0};
}

bool cjpegcoder_reserve(cjpegcoder_buffer *out, size_t more) {
  if (out->capacity - out->count >= more) { return true; }
  if (more > SIZE_MAX / 2 - out->count || out->capacity > SIZE_MAX / 2) { return false; }
  size_t capacity = out->count + more;
  capacity = capacity < out->capacity * 2 ? out->capacity * 2 : capacity;
  capacity = capacity < min_capacity ? min_capacity : capacity;
  uint8_t *bytes = realloc(out->bytes, capacity);
  if (!bytes) { return false; }
  out->bytes = bytes;
  out->capacity = capacity;
  return true;
}

/// Adds bytes to the file.
static bool put_bytes(cjpegcoder_buffer *out, const void *bytes, size_t count) {
  if (!cjpegcoder_reserve(out, count)) { return false; }
  memcpy(out->bytes + out->count, bytes, count);
  out->count += count;
  return true;
}

/// Adds one byte to the file.
static bool put_byte(cjpegcoder_buffer *out, int value) {
  uint8_t byte = (uint8_t)value;
  return put_bytes(out, &byte, 1);
}

/// Adds a 16-bit number to the file.
static bool put_word(cjpegcoder_buffer *out, int value) {
  return put_byte(out, value >> 8) && put_byte(out, value);
}

/// Adds a marker and the length of its segment, which includes the two bytes of the length.
static bool put_segment(cjpegcoder_buffer *out, int marker, int payload) {
  return put_byte(out, 0xff) && put_byte(out, marker) && put_word(out, payload + 2);
}

/// Adds SOF2 (T.81 B.2.2).
static bool put_frame(cjpegcoder_buffer *out, const cjpegcoder_image *image, bool halved_chroma) {
  bool written = put_segment(out, 0xc2, 6 + 3 * CJPEGCODER_COMPONENTS) && put_byte(out, 8) &&
                 put_word(out, image->height) && put_word(out, image->width) &&
                 put_byte(out, CJPEGCODER_COMPONENTS);
  for (int component = 0; written && component < CJPEGCODER_COMPONENTS; component++) {
    written = put_byte(out, component + 1) && put_byte(out, component == 0 && halved_chroma ? 0x22 : 0x11) &&
              put_byte(out, component ? 1 : 0);
  }
  return written;
}

bool cjpegcoder_write_headers(cjpegcoder_buffer *out, const cjpegcoder_image *image, bool halved_chroma,
                              const cjpegcoder_quantiser quantisers[2]) {
  // SOI, then APP0 of JFIF 1.01: no unit, a density of 1 : 1 and no thumbnail.
  static const uint8_t start[] = {0xff, 0xd8, 0xff, 0xe0, 0,    16,   'J',  'F',  'I', 'F',
                                  0,    1,    1,    0,    0,    1,    0,    1,    0,   0};
  bool written = put_bytes(out, start, sizeof start);
  for (int table = 0; written && table < 2; table++) {
    written = put_segment(out, 0xdb, 1 + CJPEGCODER_BLOCK) && put_byte(out, table) &&
              put_bytes(out, quantisers[table].values, CJPEGCODER_BLOCK);
  }
  return written && put_frame(out, image, halved_chroma);
}

bool cjpegcoder_write_huffman(cjpegcoder_buffer *out, int slot, const cjpegcoder_huffman *huffman) {
  return put_segment(out, 0xc4, 17 + huffman->symbol_count) && put_byte(out, slot) &&
         put_bytes(out, huffman->length_counts + 1, 16) &&
         put_bytes(out, huffman->symbols, (size_t)huffman->symbol_count);
}

bool cjpegcoder_write_scan_header(cjpegcoder_buffer *out, const cjpegcoder_scan *scan) {
  bool is_dc = scan->kind == CJPEGCODER_DC_SCAN;
  int scanned = is_dc ? CJPEGCODER_COMPONENTS : 1;
  bool written = put_segment(out, 0xda, 4 + 2 * scanned) && put_byte(out, scanned);
  for (int index = 0; written && index < scanned; index++) {
    int component = is_dc ? index : scan->component, table = component ? 1 : 0;
    written = put_byte(out, component + 1) && put_byte(out, is_dc ? table << 4 : table);
  }
  int high_bits = scan->kind == CJPEGCODER_REFINEMENT_SCAN ? scan->low_bits + 1 : 0;
  return written && put_byte(out, scan->first) && put_byte(out, scan->last) &&
         put_byte(out, high_bits << 4 | scan->low_bits);
}

bool cjpegcoder_write_end(cjpegcoder_buffer *out) {
  static const uint8_t end[] = {0xff, 0xd9};
  return put_bytes(out, end, sizeof end);
}
