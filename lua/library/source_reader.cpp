#include "lua/library/source_reader.h"

#include "lua/library/script_context.h"

namespace redlock::lua {
namespace {

constexpr std::size_t kPieceBytes = 256;

const char* next_piece(lua_State* lua, void* rest_of_source, std::size_t* bytes) {
  stop_if_aborted(lua);
  std::string_view& rest = *static_cast<std::string_view*>(rest_of_source);
  const std::string_view piece = rest.substr(0, kPieceBytes);
  rest.remove_prefix(piece.size());
  *bytes = piece.size();
  return piece.data();
}

}  // namespace

int load_source(lua_State* lua, std::string_view source, const char* name) {
  return lua_load(lua, &next_piece, &source, name, "t");
}

}  // namespace redlock::lua
