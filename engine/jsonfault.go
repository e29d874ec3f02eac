package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonFault says what is wrong with a file that people and other programs write, in words that need no knowledge of this program.
func jsonFault(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is not JSON, at byte %d: %v", syntax.Offset, err)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Sprintf("it is no object (%s)", kind.Value)
	case errors.As(err, &kind):
		return fmt.Sprintf("%s cannot be a JSON %s", kind.Field, kind.Value)
	}
	return err.Error()
}
