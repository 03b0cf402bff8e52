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

// codes are the errors of a service, by what they mean. docs/destinations.md has the same table.
type codes struct {
	denied    []string // the session, or the policy of the role or of the resource
	throttled []string // beside those that the SDK knows
	missing   []string // the resource does not exist
	refused   []string // the message is wrong
}

// common are the errors of all services, and of STS.
func common() codes {
	return codes{
		denied: []string{
			"AccessDenied", "AccessDeniedException", "OptInRequired", "RegionDisabledException",
			"ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidClientTokenId", "InvalidSecurity", "SignatureDoesNotMatch", "UnrecognizedClientException",
		},
		refused: []string{"ValidationError", "ValidationException"},
	}
}

// row is a kind of answer of AWS. The status is the HTTP status with the same meaning, so that
// the endpoint's lists of statuses apply.
type row struct {
	class  hook.Class
	status int
	text   string // for the endpoint's owner
	codes  []string
}

// rows returns the errors as a table.
func (c codes) rows() []row {
	return []row{
		{hook.ClassToken, http.StatusForbidden, "AWS denied the request: check the policy of the role, the policy of the destination, and the KMS key.", c.denied},
		{hook.ClassThrottled, http.StatusTooManyRequests, "AWS throttled the request.", c.throttled},
		{hook.ClassRefused, http.StatusNotFound, "The destination does not exist.", c.missing},
		{hook.ClassRefused, http.StatusBadRequest, "AWS does not take the event.", c.refused},
	}
}

// outcomeOf returns the outcome of an error of a service. An error that is not in its table, nor in
// that of all services, counts as transient, so another attempt is made.
func (c codes) outcomeOf(ctx context.Context, err error) hook.Outcome {
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
	about := classOf(api.ErrorCode())
	for _, r := range slices.Concat(common().rows(), c.rows()) {
		if slices.Contains(r.codes, api.ErrorCode()) || r.class == about {
			outcome = hook.Outcome{Class: r.class, Status: r.status, Error: r.text}
		}
	}
	answer := api.ErrorCode() + ": " + api.ErrorMessage()
	outcome.Body = []byte(strings.ToValidUTF8(answer[:min(len(answer), hook.MaxResponseBody)], ""))
	return outcome
}

// classOf returns the class of a code that is of no service, 0 for any other: a throttle that the SDK knows, or
// one about the KMS key of the resource, such as KmsDisabled, KMS.DisabledException or KMSDisabled.
func classOf(code string) hook.Class {
	_, throttled := retry.DefaultThrottleErrorCodes[code]
	key := strings.HasPrefix(strings.ToUpper(code), "KMS")
	switch {
	case throttled || key && strings.Contains(code, "Throttl"):
		return hook.ClassThrottled
	case key:
		return hook.ClassToken
	}
	return 0
}

// ofRole returns the outcome if the role gave no session. No refusal is final, because the owner
// can repair the role.
func ofRole(ctx context.Context, err error) hook.Outcome {
	outcome := common().outcomeOf(ctx, err)
	if outcome.Class == hook.ClassToken || outcome.Class == hook.ClassRefused {
		outcome.Class, outcome.Status = hook.ClassToken, http.StatusForbidden
		outcome.Error = "The role does not admit Surehook: its trust policy needs the principal of this deployment, and the external id of the endpoint."
	}
	return outcome
}
