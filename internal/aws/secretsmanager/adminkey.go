// Package secretsmanager reads the first admin key from AWS Secrets Manager. The
// stack generates the key. No error and no log message contains the key.
//
// The contract of [AdminKey] is documented at the port apikey.AdminKey.
package secretsmanager

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssecretsmanager "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

const (
	callTimeout = 5 * time.Second // per request, retries of the SDK included
	maxAge      = 5 * time.Minute // of the cached key: a rotation takes effect after at most 5 minutes
)

// AdminKey is the admin key of the stack. AdminKey is safe for concurrent use.
type AdminKey struct {
	client *awssecretsmanager.Client
	arn    string
	now    func() time.Time

	mu     sync.Mutex
	key    string
	readAt time.Time
}

// New returns the key in the secret with the ARN. The secret is a JSON object, and
// the field names.SecretAdminKeyJSON is the key without prefix.
func New(cfg aws.Config, arn string, now func() time.Time) *AdminKey {
	return &AdminKey{client: awssecretsmanager.NewFromConfig(cfg), arn: arn, now: now}
}

// AdminKey returns the plaintext key, read at most five minutes ago. After
// CodeUnavailable, the caller may retry.
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
	out, err := awserr.Call(ctx, callTimeout, "the secret store", a.client.GetSecretValue, &awssecretsmanager.GetSecretValueInput{SecretId: aws.String(a.arn)})
	if err != nil {
		return "", err
	}
	var fields map[string]string
	// The error of json.Unmarshal may quote the secret, so it is left out.
	if json.Unmarshal([]byte(aws.ToString(out.SecretString)), &fields) != nil || fields[names.SecretAdminKeyJSON] == "" {
		return "", &hook.Error{Code: hook.CodeInternal, Message: "the secret is not a JSON object with the field " + names.SecretAdminKeyJSON}
	}
	return hook.APIKeyPrefix + fields[names.SecretAdminKeyJSON], nil
}
