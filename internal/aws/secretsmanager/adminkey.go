// Package secretsmanager reads the first admin key, which the stack generated into AWS
// Secrets Manager. It knows nothing of what the key allows, and never logs it.
package secretsmanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssecretsmanager "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"surehook/internal/aws/awserr"
	"surehook/internal/hook"
	"surehook/internal/names"
)

const (
	callTimeout = 5 * time.Second // of one request, the SDK's own retries included
	maxAge      = 5 * time.Minute // of the key in memory: a rotated one holds after that
)

var errNoAnswer = errors.New("no answer from Secrets Manager in time")

// AdminKey is the admin key of the stack. It is safe for concurrent use.
type AdminKey struct {
	client *awssecretsmanager.Client
	arn    string
	now    func() time.Time

	mu     sync.Mutex
	key    string
	readAt time.Time
}

// New returns the key that the secret holds: a JSON object whose field
// names.SecretAdminKeyJSON is the key without its prefix.
func New(cfg aws.Config, arn string, now func() time.Time) *AdminKey {
	return &AdminKey{client: awssecretsmanager.NewFromConfig(cfg), arn: arn, now: now}
}

// AdminKey returns the key in clear, read at most five minutes ago.
// CodeUnavailable if it cannot be read now.
func (a *AdminKey) AdminKey(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	now := a.now()
	if a.key != "" && now.Sub(a.readAt) < maxAge {
		return a.key, nil
	}
	key, err := a.read(ctx)
	if err != nil {
		return "", fmt.Errorf("read secret %s: %w", a.arn, err)
	}
	a.key, a.readAt = key, now
	return key, nil
}

func (a *AdminKey) read(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	out, err := a.client.GetSecretValue(ctx, &awssecretsmanager.GetSecretValueInput{SecretId: aws.String(a.arn)})
	if err != nil {
		return "", awserr.Of(ctx, err, "the secret store")
	}
	var fields map[string]string
	// The cause of a wrong form is left out, because it may quote the secret.
	if json.Unmarshal([]byte(aws.ToString(out.SecretString)), &fields) != nil || fields[names.SecretAdminKeyJSON] == "" {
		return "", &hook.Error{Code: hook.CodeInternal, Message: "the secret is no JSON object with the field " + names.SecretAdminKeyJSON}
	}
	return hook.APIKeyPrefix + fields[names.SecretAdminKeyJSON], nil
}
