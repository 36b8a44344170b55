// A variant took a case on which the contract knows no bound for the arithmetic that it declares.
#pragma once
#include "reference/core/error.hpp"

namespace plumb {

/// Of the variant, not of the judge: it should have declined the case. A run that ends in this error is a failure.
class NoBound : public Error {
 public:
  using Error::Error;
};

}  // namespace plumb
