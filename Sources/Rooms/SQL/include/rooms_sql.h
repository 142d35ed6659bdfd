#pragma once

#include "embedded.h"

/// The SQL files of the rooms, by name.
struct __attribute__((swift_attr("@Sendable"))) rooms_sql {
  struct embedded_text Accounts, Accounts_schema, v0154_one_time_codes, v0155_accounts, v0168_code_attempts,
      v0176_withdrawn_words, v0175_area, v0174_turns, v0173_used_access_tokens, v0171_mail_limits, Collections, Collections_schema, v0157_sharing, Comments, Comments_schema, Devices, v0151_devices, v0169_reached_providers,
      v0177_push_shards,
      Events, v0150_event_positions, v0183_history, Export, Images, Moderation, Moderation_schema, Operations, People, People_schema, v0160_order, Map_schema,
      Places, Places_schema, v0156_places_of_friends, v0159_places, v0161_lookups, v0164_places_of_viewers, v0172_ages, Posts, Webhooks,
      v0152_webhooks, v0178_webhook_headers, Window, v0149_window_schedule, v0153_window, v0167_window_offset;
};
extern const struct rooms_sql RoomsSQL;
