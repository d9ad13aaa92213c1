// Forms: the ways in which programs take, extend and release a lock of one node. What a form says
// yes to is a lock: the rules of that node hold for each of them, however it was asked for.
//
// The words K, V and T stand for the key, the holder's value and the TTL in milliseconds; F for a
// flag beside the key, which anybody may raise and lower. No form touches a lock that is not the
// holder's, as a program that is careful does.
#pragma once

#include "protocol/resp/reply.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

// Requests that are sent together; the last reply is the answer.
using Requests = std::vector<std::vector<std::string_view>>;

struct Form {
  std::string_view name;
  Requests take;
  Requests extend;
  Requests release;
};

std::span<const Form> forms();

// As bytes for the node.
std::string written(const Requests& requests, std::string_view key, std::string_view value,
                    std::string_view ttl_ms, std::string_view flag = {});

// Whether it says that the lock is now, or was, the holder's: 1, OK, or a list that begins so.
bool is_yes(const protocol::Reply& reply);
// Whether it says that it is not: 0, or a list that begins so.
bool is_no(const protocol::Reply& reply);

}  // namespace redlock::simulation
