"""Instance types and frameworks."""

TABLE = {
    "beside_type": "cannot be set beside type: {type} says it. Leave out one of the two",
    "no_types": "there is no instance type {given:quoted}: this server offers none. Set cpus, memory and gpus instead",
    "type_not_listed": "there is no instance type {given:quoted}; there are {known:comma}",
    "no_frameworks": "there is no framework {given:quoted}: this server offers none. Set image, environment or strategy instead",
    "framework_not_listed": "there is no framework {given:quoted}; there are {known:comma}",
    "strategy_not_offered": "{framework} does not offer strategy {given:quoted}; it offers {known:comma}",
    "strategy_not_among": "must be one of its strategies: {known:comma}",
    "framework_file": "{file} is a file of the code, and a framework has no code: list the requirements, or give a path",
    "type_unknown": "there is no instance type {type:quoted}",
    "framework_unknown": "there is no framework {framework:quoted}",
}
