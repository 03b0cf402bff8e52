package stack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"surehook/internal/names"
)

// keyPrefix begins every API key; the secret holds the rest.
const keyPrefix = "shk_"

// generated is what AWS makes of the template's rules for the key.
var generated = regexp.MustCompile(`^[A-Za-z0-9]{43}$`)

// stack reads the outputs and the admin key.
func (d *deployment) stack(ctx context.Context) (*Stack, error) {
	raw, err := os.ReadFile(d.outputsFile())
	if err != nil {
		return nil, fmt.Errorf("read the stack's outputs: %w", err)
	}
	var byStack map[string]map[string]string
	if err := json.Unmarshal(raw, &byStack); err != nil {
		return nil, fmt.Errorf("read the stack's outputs: %w", err)
	}
	out := outputs{values: byStack[Name]}
	s := &Stack{
		APIURL:             out.get("ApiUrl"),
		Address:            d.emulator.URL,
		TableName:          out.get("TableName"),
		LiveQueueURL:       out.get("LiveQueueUrl"),
		RetryQueueURL:      out.get("RetryQueueUrl"),
		ReplayJobsQueueURL: out.get("ReplayJobsQueueUrl"),
		DeadLettersURL:     out.get("DeadLettersUrl"),
		UndeliverableURL:   out.get("UndeliverableUrl"),
		ScheduleGroup:      out.get("ScheduleGroupName"),
		TopicARN:           out.get("TopicArn"),
		AWS:                awsConfig(d.emulator),
	}
	secretARN := out.get("AdminKeySecretArn")
	if len(out.missing) > 0 {
		return nil, fmt.Errorf("read the stack's outputs: %v are missing from %s", out.missing, d.outputsFile())
	}
	if s.Host, err = d.emulator.APIHost(s.APIURL); err != nil {
		return nil, err //nolint:wrapcheck // it names itself
	}
	if s.Key, err = adminKey(ctx, s.AWS, secretARN); err != nil {
		return nil, err
	}
	return s, nil
}

// outputs notes which names were asked for in vain.
type outputs struct {
	values  map[string]string
	missing []string
}

func (o *outputs) get(name string) string {
	value := o.values[name]
	if value == "" {
		o.missing = append(o.missing, name)
	}
	return value
}

// adminKey reads the admin key from Secrets Manager.
func adminKey(ctx context.Context, cfg aws.Config, arn string) (string, error) {
	client := secretsmanager.NewFromConfig(cfg)
	got, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return "", fmt.Errorf("read the admin key: %w", err)
	}
	var fields map[string]string
	if err := json.Unmarshal([]byte(aws.ToString(got.SecretString)), &fields); err != nil {
		return "", fmt.Errorf("read the admin key: its secret is not a JSON object: %w", err)
	}
	if fields[names.SecretAdminKeyJSON] == "" {
		return "", fmt.Errorf("read the admin key: its secret has no field %q", names.SecretAdminKeyJSON)
	}
	if generated.MatchString(fields[names.SecretAdminKeyJSON]) {
		return keyPrefix + fields[names.SecretAdminKeyJSON], nil
	}
	return replaceAdminKey(ctx, client, arn)
}

// replaceAdminKey puts a key of the right form into the secret. MiniStack
// ignores the template's ExcludePunctuation, and a key with punctuation in it
// is not one that the API takes. No function has read the secret yet.
func replaceAdminKey(ctx context.Context, client *secretsmanager.Client, arn string) (string, error) {
	key := rand.Text() + rand.Text()
	value, err := json.Marshal(map[string]string{names.SecretAdminKeyJSON: key})
	if err != nil {
		return "", fmt.Errorf("replace the admin key: %w", err)
	}
	if _, err := client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: &arn, SecretString: aws.String(string(value))}); err != nil {
		return "", fmt.Errorf("replace the admin key: %w", err)
	}
	return keyPrefix + key, nil
}
