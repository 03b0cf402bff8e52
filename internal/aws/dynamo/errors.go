package dynamo

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
)

// Codes of the reasons for a cancelled transaction. The answer lists one reason
// per write, in the order of the writes; see the API reference of
// TransactWriteItems.
const (
	reasonCondition = "ConditionalCheckFailed"
	reasonConflict  = "TransactionConflict"
	reasonThrottled = "ThrottlingError"
	reasonCapacity  = "ProvisionedThroughputExceeded"
)

// translate returns err as a hook.Error, wrapped with op, the operation. A nil err
// stays nil.
func translate(err error, op string) error {
	if err == nil {
		return nil
	}
	e := &hook.Error{Code: codeOf(err), Message: "the store did not take the request", Err: err}
	switch {
	case e.Code == hook.CodeConflict:
		e.Message = "the record exists already or was changed meanwhile"
	case awserr.Refused(err):
		e.Message = "the store is missing, disabled or not permitted"
	case e.Code == hook.CodeUnavailable:
		e.Message = "the store did not answer; try again"
	}
	return fmt.Errorf("%s: %w", op, e)
}

// codeOf maps an error of the SDK to a code: CodeConflict for a failed condition,
// CodeUnavailable when the same request may succeed later or once somebody restores the
// table or its permission, CodeInternal in all other cases.
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
	if errors.Is(err, errUnprocessed) || awserr.Retryable(err) || awserr.Refused(err) {
		return hook.CodeUnavailable
	}
	return hook.CodeInternal
}

// codeOfReasons maps the reasons of a cancelled transaction to a code. A failed
// condition takes precedence, because a retry cannot succeed.
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

// conditionFailed reports whether err cancels a transaction because the condition
// of write i, counted from 0, failed.
func conditionFailed(err error, i int) bool {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	return ok && i < len(canceled.CancellationReasons) &&
		aws.ToString(canceled.CancellationReasons[i].Code) == reasonCondition
}

// unmarshalRefused reads the stored item of write i, counted from 0, of a cancelled
// transaction into out. The write must ask for the item of a failed condition.
func unmarshalRefused(err error, i int, out any) error {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || i >= len(canceled.CancellationReasons) {
		return fmt.Errorf("read item of write %d: %w", i, err)
	}
	if err := decodeItem(canceled.CancellationReasons[i].Item, out); err != nil {
		return fmt.Errorf("read item of write %d: %w", i, err)
	}
	return nil
}
