#include "rooms_sql.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const struct rooms_sql RoomsSQL = {
  .Accounts = {(const char[]){
#embed "../SignIn/Accounts.sql" suffix(, 0)
  }},
  .Accounts_schema = {(const char[]){
#embed "../SignIn/Accounts_schema.sql" suffix(, 0)
  }},
  .v0154_one_time_codes = {(const char[]){
#embed "../SignIn/v0154_one_time_codes.sql" suffix(, 0)
  }},
  .v0155_accounts = {(const char[]){
#embed "../SignIn/v0155_accounts.sql" suffix(, 0)
  }},
  .v0168_code_attempts = {(const char[]){
#embed "../SignIn/v0168_code_attempts.sql" suffix(, 0)
  }},
  .v0176_withdrawn_words = {(const char[]){
#embed "../Places/v0176_withdrawn_words.sql" suffix(, 0)
  }},
  .v0175_area = {(const char[]){
#embed "../Places/v0175_area.sql" suffix(, 0)
  }},
  .v0174_turns = {(const char[]){
#embed "../Events/v0174_turns.sql" suffix(, 0)
  }},
  .v0173_used_access_tokens = {(const char[]){
#embed "../SignIn/v0173_used_access_tokens.sql" suffix(, 0)
  }},
  .v0172_ages = {(const char[]){
#embed "../Places/v0172_ages.sql" suffix(, 0)
  }},
  .v0171_mail_limits = {(const char[]){
#embed "../SignIn/v0171_mail_limits.sql" suffix(, 0)
  }},
  .Collections = {(const char[]){
#embed "../Collections/Collections.sql" suffix(, 0)
  }},
  .Collections_schema = {(const char[]){
#embed "../Collections/Collections_schema.sql" suffix(, 0)
  }},
  .v0157_sharing = {(const char[]){
#embed "../Collections/v0157_sharing.sql" suffix(, 0)
  }},
  .Comments = {(const char[]){
#embed "../Comments/Comments.sql" suffix(, 0)
  }},
  .Comments_schema = {(const char[]){
#embed "../Comments/Comments_schema.sql" suffix(, 0)
  }},
  .Devices = {(const char[]){
#embed "../Devices/Devices.sql" suffix(, 0)
  }},
  .v0151_devices = {(const char[]){
#embed "../Devices/v0151_devices.sql" suffix(, 0)
  }},
  .v0177_push_shards = {(const char[]){
#embed "../Devices/v0177_push_shards.sql" suffix(, 0)
  }},
  .v0169_reached_providers = {(const char[]){
#embed "../Devices/v0169_reached_providers.sql" suffix(, 0)
  }},
  .Events = {(const char[]){
#embed "../Events/Events.sql" suffix(, 0)
  }},
  .v0150_event_positions = {(const char[]){
#embed "../Events/v0150_event_positions.sql" suffix(, 0)
  }},
  .v0183_history = {(const char[]){
#embed "../Events/v0183_history.sql" suffix(, 0)
  }},
  .Export = {(const char[]){
#embed "../Exporting/Export.sql" suffix(, 0)
  }},
  .Images = {(const char[]){
#embed "../Images/Images.sql" suffix(, 0)
  }},
  .Moderation = {(const char[]){
#embed "../Moderation/Moderation.sql" suffix(, 0)
  }},
  .Moderation_schema = {(const char[]){
#embed "../Moderation/Moderation_schema.sql" suffix(, 0)
  }},
  .Operations = {(const char[]){
#embed "../Operating/Operations.sql" suffix(, 0)
  }},
  .People = {(const char[]){
#embed "../People/People.sql" suffix(, 0)
  }},
  .People_schema = {(const char[]){
#embed "../People/People_schema.sql" suffix(, 0)
  }},
  .v0160_order = {(const char[]){
#embed "../People/v0160_order.sql" suffix(, 0)
  }},
  .Map_schema = {(const char[]){
#embed "../Places/Map_schema.sql" suffix(, 0)
  }},
  .Places = {(const char[]){
#embed "../Places/Places.sql" suffix(, 0)
  }},
  .Places_schema = {(const char[]){
#embed "../Places/Places_schema.sql" suffix(, 0)
  }},
  .v0156_places_of_friends = {(const char[]){
#embed "../Places/v0156_places_of_friends.sql" suffix(, 0)
  }},
  .v0159_places = {(const char[]){
#embed "../Places/v0159_places.sql" suffix(, 0)
  }},
  .v0161_lookups = {(const char[]){
#embed "../Places/v0161_lookups.sql" suffix(, 0)
  }},
  .v0164_places_of_viewers = {(const char[]){
#embed "../Places/v0164_places_of_viewers.sql" suffix(, 0)
  }},
  .Posts = {(const char[]){
#embed "../Posts/Posts.sql" suffix(, 0)
  }},
  .Webhooks = {(const char[]){
#embed "../Webhooks/Webhooks.sql" suffix(, 0)
  }},
  .v0152_webhooks = {(const char[]){
#embed "../Webhooks/v0152_webhooks.sql" suffix(, 0)
  }},
  .v0178_webhook_headers = {(const char[]){
#embed "../Webhooks/v0178_webhook_headers.sql" suffix(, 0)
  }},
  .Window = {(const char[]){
#embed "../Window/Window.sql" suffix(, 0)
  }},
  .v0149_window_schedule = {(const char[]){
#embed "../Window/v0149_window_schedule.sql" suffix(, 0)
  }},
  .v0153_window = {(const char[]){
#embed "../Window/v0153_window.sql" suffix(, 0)
  }},
  .v0167_window_offset = {(const char[]){
#embed "../Window/v0167_window_offset.sql" suffix(, 0)
  }},
};
