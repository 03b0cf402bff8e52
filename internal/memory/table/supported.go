package table

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// invalid returns an error like DynamoDB's answer to a malformed request.
func invalid(format string, args ...any) error {
	return &smithy.GenericAPIError{Code: "ValidationException", Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}

// only returns an error for a request that sets a field besides those named. in is a
// pointer to a struct; requests of one type name the same fields.
func (t *Table) only(in any, fields ...string) error {
	v := reflect.ValueOf(in).Elem()
	others, ok := t.others.Load(v.Type())
	if !ok {
		var all []int
		for i := range v.NumField() {
			if !slices.Contains(fields, v.Type().Field(i).Name) {
				all = append(all, i)
			}
		}
		others, _ = t.others.LoadOrStore(v.Type(), all)
	}
	all, _ := others.([]int)
	for _, i := range all {
		if !v.Field(i).IsZero() {
			return invalid("this table does not support %s of %s", v.Type().Field(i).Name, v.Type().Name())
		}
	}
	return nil
}

// named returns an error for a request of another table.
func (t *Table) named(name *string) error {
	switch aws.ToString(name) {
	case t.schema.Name:
		return nil
	case "":
		return invalid("TableName must not be empty")
	}
	return &types.ResourceNotFoundException{Message: aws.String("Requested resource not found: " + *name)}
}

// request checks the fields and the table of a request.
func (t *Table) request(name *string, in any, fields ...string) error {
	if err := t.named(name); err != nil {
		return err
	}
	return t.only(in, fields...)
}
