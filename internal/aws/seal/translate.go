package seal

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"surehook/internal/hook"
)

var errNoAnswer = errors.New("KMS did not answer in time")

// translate turns an error of the SDK or of Tink into ours: CodeUnavailable
// for what the SDK itself holds worth retrying (throttling, server faults, a
// broken connection) and for a context that ended, CodeInternal for the rest,
// such as a ciphertext that does not decrypt. Neither library puts plaintext
// into its errors.
func translate(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the key did not answer", Err: errors.Join(cause, err)}
	}
	if retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the key is not available", Err: err}
	}
	return &hook.Error{Code: hook.CodeInternal, Message: "the secret cannot be sealed or opened", Err: err}
}
