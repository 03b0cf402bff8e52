package dynamo

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/aws/awserr"
	"surehook/internal/hook"
)

// Codes of the reasons for which a transaction is cancelled. They stand in the
// order of its writes; see the API reference of TransactWriteItems.
const (
	reasonCondition = "ConditionalCheckFailed"
	reasonConflict  = "TransactionConflict"
	reasonThrottled = "ThrottlingError"
	reasonCapacity  = "ProvisionedThroughputExceeded"
)

// translate returns err as a hook.Error, wrapped in what was being done; nil for nil.
func translate(err error, op string) error {
	if err == nil {
		return nil
	}
	e := &hook.Error{Code: codeOf(err), Message: "the store did not take the request", Err: err}
	switch e.Code { //nolint:exhaustive // codeOf knows three codes
	case hook.CodeConflict:
		e.Message = "the record exists already or was changed meanwhile"
	case hook.CodeUnavailable:
		e.Message = "the store did not answer; try again"
	}
	return fmt.Errorf("%s: %w", op, e)
}

// codeOf says what an error of the SDK means: CodeConflict when a condition did
// not hold, CodeUnavailable when the same request may succeed later, and
// CodeInternal for everything else.
func codeOf(err error) hook.Code {
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return hook.CodeConflict
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return codeOfReasons(canceled.CancellationReasons)
	}
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		return hook.CodeUnavailable
	}
	if awserr.Retryable(err) {
		return hook.CodeUnavailable
	}
	return hook.CodeInternal
}

// codeOfReasons does the same for a cancelled transaction. A condition that did
// not hold outweighs the rest, because trying again cannot mend it.
func codeOfReasons(reasons []types.CancellationReason) hook.Code {
	code := hook.CodeInternal
	for _, reason := range reasons {
		switch aws.ToString(reason.Code) {
		case reasonCondition:
			return hook.CodeConflict
		case reasonConflict, reasonThrottled, reasonCapacity:
			code = hook.CodeUnavailable
		}
	}
	return code
}

// conditionFailed reports whether the transaction was cancelled because the
// condition of its write number i, counted from 0, did not hold.
func conditionFailed(err error, i int) bool {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	return ok && i < len(canceled.CancellationReasons) &&
		aws.ToString(canceled.CancellationReasons[i].Code) == reasonCondition
}
