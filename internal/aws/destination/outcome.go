package destination

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// row is a kind of answer of AWS. The status is the HTTP status with the same meaning, so that
// the endpoint's lists of statuses apply.
type row struct {
	class  hook.Class
	status int
	text   string // for the endpoint's owner
	codes  []string
}

// rows is the table of errors; docs/destinations.md has the same one.
func rows() []row {
	return []row{
		{hook.ClassToken, http.StatusForbidden, "AWS denied the request: check the policy of the role, the policy of the destination, and the KMS key.", []string{
			"AccessDenied", "AccessDeniedException", "AuthorizationErrorException", "NotAuthorizedForSourceException", "NotAuthorizedForDetailTypeException",
			"OptInRequired", "RegionDisabledException",
			"KmsAccessDenied", "KMS.AccessDeniedException", "KmsDisabled", "KMS.DisabledException", "KmsInvalidKeyUsage", "KmsInvalidState", "KmsNotFound", "KMS.NotFoundException", "KmsOptInRequired",
			"ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidClientTokenId", "InvalidSecurity", "SignatureDoesNotMatch", "UnrecognizedClientException",
		}},
		{hook.ClassThrottled, http.StatusTooManyRequests, "AWS throttled the request.", []string{"KmsThrottled", "KMS.ThrottlingException", "OverLimit"}},
		{hook.ClassRefused, http.StatusNotFound, "The destination does not exist.", []string{
			"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist", "AWS.SimpleQueueService.QueueDeletedRecently", "QueueDeletedRecently", "InvalidAddress", "ResourceNotFoundException",
		}},
		{hook.ClassRefused, http.StatusBadRequest, "AWS does not take the event.", []string{
			"InvalidMessageContents", "InvalidParameterValue", "InvalidAttributeValue", "InvalidArgument", "MalformedDetail", "RequestTooLarge", "ValidationError", "ValidationException",
			"AWS.SimpleQueueService.UnsupportedOperation", "UnsupportedOperation",
		}},
	}
}

// outcomeOf returns the outcome of an error. An error that is not in the table counts as
// transient, so another attempt is made.
func outcomeOf(ctx context.Context, err error) hook.Outcome {
	if errors.Is(err, errContents) {
		return hook.Outcome{Class: hook.ClassRefused, Status: http.StatusRequestEntityTooLarge, Error: err.Error() + "."}
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		class, text := send.Unanswered(ctx, err)
		return hook.Outcome{Class: class, Error: text}
	}
	outcome := hook.Outcome{Class: hook.ClassUnavailable, Status: http.StatusServiceUnavailable, Error: "AWS could not answer: " + api.ErrorCode() + "."}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && response.HTTPStatusCode() >= http.StatusInternalServerError {
		outcome.Status = response.HTTPStatusCode()
	}
	_, throttled := retry.DefaultThrottleErrorCodes[api.ErrorCode()]
	for _, r := range rows() {
		if slices.Contains(r.codes, api.ErrorCode()) || throttled && r.class == hook.ClassThrottled {
			outcome = hook.Outcome{Class: r.class, Status: r.status, Error: r.text}
		}
	}
	answer := api.ErrorCode() + ": " + api.ErrorMessage()
	outcome.Body = []byte(strings.ToValidUTF8(answer[:min(len(answer), hook.MaxResponseBody)], ""))
	return outcome
}

// ofRole returns the outcome if the role gave no session. No refusal is final, because the owner
// can repair the role.
func ofRole(ctx context.Context, err error) hook.Outcome {
	outcome := outcomeOf(ctx, err)
	if outcome.Class == hook.ClassToken || outcome.Class == hook.ClassRefused {
		outcome.Class, outcome.Status = hook.ClassToken, http.StatusForbidden
		outcome.Error = "The role does not admit Surehook: its trust policy needs the principal of this deployment, and the external id of the endpoint."
	}
	return outcome
}
